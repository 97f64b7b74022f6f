"""Where to cut a series so that its parts are flat: exact least squares with a price a cut.

Optimal partitioning (Jackson et al., "An algorithm for optimal partitioning of data on an interval", IEEE SPL 12, 2005)
with PELT pruning (Killick et al., JASA 107, 2012). It is what `ruptures.KernelCPD("linear")` computes (a test compares
them) without the second of CPU time that importing ruptures and scipy costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.stats.intervals import Floats

MIN_SIZE = 3


@dataclass(frozen=True)
class Segments:
    """The parts of a series between cuts; arrays of one value a part, or a cut where it says so."""

    lengths: NDArray[np.intp]
    levels: Floats
    squares: Floats
    """Sum of squares around the level."""

    @classmethod
    def of(cls, series: Floats, cuts: Sequence[int]) -> Segments:
        starts = np.array([0, *cuts], dtype=np.intp)
        lengths = np.diff(np.append(starts, series.size)).astype(np.intp)
        levels = np.add.reduceat(series, starts) / lengths
        return cls(lengths, levels, np.add.reduceat((series - np.repeat(levels, lengths)) ** 2, starts))

    @property
    def heights(self) -> Floats:
        """Height of each cut: the distance between the levels beside it."""
        return np.abs(np.diff(self.levels))

    @property
    def gains(self) -> Floats:
        """What each cut takes off the sum of squares."""
        before, after = self.lengths[:-1], self.lengths[1:]
        return np.asarray(self.heights**2 * before * after / (before + after), dtype=np.float64)

    def variances(self, usual: float, known: int) -> Floats:
        """Variance around the levels beside each cut; the `usual` variance counts as if it came from `known` values
        more."""
        seen = self.lengths[:-1] + self.lengths[1:] - 2
        squares = self.squares[:-1] + self.squares[1:]
        return np.asarray((squares + known * usual) / (seen + known), dtype=np.float64)

    def larger_variances(self, usual: float, known: int) -> Floats:
        """Variance on the noisier side of each cut."""
        each = (self.squares + known * usual) / (self.lengths - 1 + known)
        return np.maximum(each[:-1], each[1:])


def segment(series: Floats, penalty: float, min_size: int = MIN_SIZE) -> list[int]:
    n = series.size
    total = np.concatenate([[0.0], np.cumsum(series)])
    squares = np.concatenate([[0.0], np.cumsum(series**2)])
    best = np.full(n + 1, np.inf)
    best[0] = -penalty
    last = np.zeros(n + 1, dtype=np.intp)
    starts = np.array([0], dtype=np.intp)
    for end in range(min_size, n + 1):
        length = end - starts
        cost = best[starts] + squares[end] - squares[starts] - (total[end] - total[starts]) ** 2 / length
        at = int(np.argmin(cost))
        best[end] = cost[at] + penalty
        last[end] = starts[at]
        # A start that is already worse than the best by a penalty can never win again. The newest start becomes
        # usable once a whole segment fits behind it.
        starts = np.append(starts[cost <= best[end]], end - min_size + 1)
    cuts: list[int] = []
    at = int(last[n])
    while at > 0:
        cuts.append(at)
        at = int(last[at])
    return cuts[::-1]
