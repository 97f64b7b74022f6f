from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FileRange:
    """The bytes `[start, end)` of a file; `end` None reaches to its end.

    For a file of lines, a line belongs to the range its first byte is in.
    """

    path: str
    start: int = 0
    end: int | None = None

    def __str__(self) -> str:
        if self.start == 0 and self.end is None:
            return self.path
        return f"{self.path} (bytes {self.start} to {'the end' if self.end is None else self.end})"


@dataclass(frozen=True)
class Split:
    """The unit of work that goes to a worker. Results come back in the order of `index`, whoever did the work."""

    index: int
    ranges: tuple[FileRange, ...] = ()
    copies: int = 1
    """How often a worker goes through it, each time from bytes (`RepeatEntries`)."""

    def __str__(self) -> str:
        if not self.ranges:
            return f"split {self.index}"
        more = len(self.ranges) - 1
        return str(self.ranges[0]) + (f" and {more} more" if more else "")
