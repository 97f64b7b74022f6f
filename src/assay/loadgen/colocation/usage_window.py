from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from assay.untrusted.read_limit import USAGE
from assay.untrusted.text_file import read_text
from assay.untrusted.unreadable import Unreadable


class UsageWindow:
    """The rows of usage.csv that belong to the measured time. Times are seconds from the start of the process."""

    def __init__(self, columns: Mapping[str, NDArray[np.float64]], begin: float, end: float) -> None:
        self._columns, self._begin, self._end = columns, begin, end
        self._t = columns.get("t_s", np.zeros(0))
        self._inside = (self._t >= begin) & (self._t <= end)
        self.count = int(self._inside.sum())

    @classmethod
    def read(cls, path: Path, begin: float, end: float) -> Self:
        """Reads the rows of the window. A last row that was not written whole is left out; where the disk was full, all
        are."""
        try:
            head, *rows = csv.reader(read_text(path, USAGE).splitlines())
        except (FileNotFoundError, Unreadable, ValueError):
            return cls({}, begin, end)
        whole = [row for row in rows if len(row) == len(head) and row[-1]]
        return cls({name: np.array([float(row[at]) for row in whole]) for at, name in enumerate(head)}, begin, end)

    def mean(self, name: str) -> float | None:
        known = self._values_inside(name)
        return float(known.mean()) if len(known) else None

    def highest(self, name: str) -> float | None:
        known = self._values_inside(name)
        return float(known.max()) if len(known) else None

    def growth(self, name: str, last: tuple[float, float] | None = None) -> float | None:
        """How much a running sum grew from the window's beginning to its end, interpolated linearly between samples.

        `last`: a time after the last row, and the sum at that time.
        """
        values = self._columns.get(name, np.zeros(0))
        known = ~np.isnan(values)
        at, sums = self._t[known], values[known]
        if last is not None:
            at, sums = np.append(at, last[0]), np.append(sums, last[1])
        if len(at) < 2:
            return None
        at_begin, at_end = np.interp([self._begin, self._end], at, sums)
        return float(at_end - at_begin)

    def _values_inside(self, name: str) -> NDArray[np.float64]:
        values = self._columns.get(name, np.zeros(0))
        inside = values[self._inside] if len(values) else values
        return np.asarray(inside[~np.isnan(inside)])
