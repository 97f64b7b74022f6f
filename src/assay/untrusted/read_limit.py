from __future__ import annotations

from dataclasses import dataclass

MB = 2**20


@dataclass(frozen=True)
class ReadLimit:
    """What reading one file may cost."""

    most_bytes: int
    follow_links: bool = False
    """Whether links are followed: only in a path that the user names; what a run wrote must not lead elsewhere."""
    seconds: float | None = None
    """Reading that takes longer is given up between two blocks; what is then done with the bytes is not bounded."""

    @property
    def size(self) -> str:
        return f"{self.most_bytes // MB} MB" if self.most_bytes >= MB else f"{self.most_bytes} bytes"


RESULT = ReadLimit(64 * MB)
"""`params.json`, `metrics.json`: what a benchmark program wrote."""
TASKS = ReadLimit(512 * MB)
RECORDS = ReadLimit(16 * 1024 * MB)
"""A file of records, read a line at a time; one line has at most `MOST_OF_A_LINE` bytes."""
MOST_OF_A_LINE = 1024 * MB
SESSION = ReadLimit(64 * MB)
"""`session.json`, `env.json`, and what else Assay keeps where others can write."""
USAGE = ReadLimit(1024 * MB)
LOG = ReadLimit(1 << 62)
"""Only the end of a log is read."""
WEIGHTS_PART = ReadLimit(1 << 62)
"""A pack of a repository, of which one piece at a time is read."""
NAMED = ReadLimit(256 * MB, follow_links=True)
"""A file of another tool that the user names."""
TRACE = ReadLimit(4 * 1024 * MB, follow_links=True)
"""Send times of a load, read a line at a time; one line has at most 1 MB."""
WEIGHTS = ReadLimit(1 << 62, follow_links=True)
"""A file of weights is mapped, not read; its header and its pickle have limits of their own."""
