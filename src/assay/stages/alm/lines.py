from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from assay.pipeline import Batch
from assay.stages.alm.bad_line import BadLine

BLANK = b" \t\r"


@dataclass(frozen=True)
class Lines(Batch):
    """Whole lines of a manifest as they are in the file, blank ones among them. Nothing is parsed yet."""

    data: bytes
    path: str
    offset: int
    """Where the first byte is in the file."""
    count: int
    """Lines that are not blank."""
    period: int = 0
    """Not 0: the same bytes over and over, each time this many (a repeated entry)."""
    bad: tuple[BadLine, ...] = ()
    """Lines the reader had to leave out."""

    def __len__(self) -> int:
        return self.count

    def file_offset(self, position: int) -> int:
        return self.offset + (position % self.period if self.period else position)

    def positions(self) -> Iterator[tuple[int, int]]:
        """Start and end of every line that is not blank, without the white space around it."""
        start = 0
        while start < len(self.data):
            end = self.data.find(b"\n", start)
            end = len(self.data) if end < 0 else end
            line = self.data[start:end].lstrip(BLANK)
            if line:
                yield end - len(line), end - len(line) + len(line.rstrip(BLANK))
            start = end + 1

    def slice(self, start: int, stop: int) -> Self:
        rows = list(self.positions())[start:stop]
        if not rows:
            return type(self)(b"", self.path, self.offset, 0)
        first, last = rows[0][0], rows[-1][1]
        return type(self)(self.data[first:last], self.path, self.file_offset(first), len(rows), self.period)

    @classmethod
    def concat(cls, batches: Sequence[Self]) -> Self:
        if len(batches) > 1:
            raise TypeError("lines of a manifest are not joined: a bad one could no longer be found in its file")
        return batches[0]


def count_lines(data: bytes) -> int:
    """Lines that are not blank."""
    from assay.stages.alm.kernel import library

    compiled = library() if len(data) > 2**16 else None
    if compiled is not None:
        return int(compiled.alm_lines(data, len(data)))
    return sum(1 for line in data.split(b"\n") if line.strip(BLANK))
