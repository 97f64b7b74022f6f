from __future__ import annotations

from assay.errors import DataError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


class Unreadable(DataError):
    """What others wrote cannot be read, and why: `reason` goes on where `where` (a path, or path:line) begins."""

    def __init__(self, where: Path | str, reason: str) -> None:
        self.where = str(where)
        self.reason = reason
        super().__init__(f"{self.where}: {reason}")
