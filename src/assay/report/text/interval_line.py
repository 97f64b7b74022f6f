from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log

from assay.analysis import Row

_FEWEST, _MOST = 15, 31
"""Columns of a drawing."""
_NEAR, _FAR = log(1.05), log(4)
"""The scale ends between 5% and a factor of 4."""


@dataclass(frozen=True)
class IntervalScale:
    """Intervals of one table drawn on one scale, `├──●──┤`, no change in the middle, worse to the left."""

    columns: int
    """Odd; 0 where there is no room."""
    reach: float
    """Logarithm at either end."""

    @classmethod
    def of(cls, rows: Iterable[Row], room: int) -> IntervalScale:
        ends = [abs(log(end)) for row in rows for end in (row.low, row.high) if end and end > 0]
        columns = min(room, _MOST)
        return cls(columns - (columns + 1) % 2 if columns >= _FEWEST else 0, min(max([_NEAR, *ends]), _FAR))

    @property
    def legend(self) -> str:
        half = self.columns // 2
        return f"{'worse '.rjust(half)}|{' better'.ljust(half)}".rstrip()

    def draw(self, row: Row) -> str:
        """Nothing where there is no interval, no direction or no room."""
        if not (self.columns and row.better and row.low and row.high and row.ratio):
            return ""
        places = [self._at(end, row.better == "lower") for end in (row.low, row.high, row.ratio)]
        first, last, middle = min(places[:2]), max(places[:2]), places[2]
        cells = [" "] * self.columns
        cells[self.columns // 2] = "|"
        cells[first : last + 1] = "─" * (last + 1 - first)
        cells[first], cells[last] = "├", "┤"
        cells[middle] = "●"
        return "".join(cells).rstrip()

    def _at(self, ratio: float, lower_is_better: bool) -> int:
        share = max(-1.0, min(1.0, log(ratio) / self.reach * (-1 if lower_is_better else 1)))
        return round((share + 1) / 2 * (self.columns - 1))
