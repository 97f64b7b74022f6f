"""A rate that changes with time, by inversion: the k-th query is sent when the expected count reaches k.

With `poisson`, the counts are those of a unit-rate Poisson process instead of 0, 1, 2 …, which makes the result an
inhomogeneous Poisson process (Çinlar, Introduction to Stochastic Processes, 1975, ch. 4.7).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from assay.loadgen.schedulers.scheduler import BLOCK, Arrivals, LoadScheduler, positive

Floats = NDArray[np.float64]


class RampLoadScheduler(LoadScheduler):
    """A rate that goes linearly from one value to another in `seconds`, and ends there."""

    def __init__(self, start_rate: float, end_rate: float, seconds: float, poisson: bool = False) -> None:
        if start_rate < 0 or end_rate < 0 or start_rate + end_rate == 0:
            raise ValueError("start_rate and end_rate must not be negative, and one must be greater than 0")
        self.start_rate = start_rate
        self.end_rate = end_rate
        self.seconds: float = positive("seconds", seconds)
        self.poisson = poisson
        self.rate = (start_rate + end_rate) / 2

    def ends(self, counted: bool, timed: bool) -> bool:
        return True

    def arrivals(self, rng: np.random.Generator) -> Iterator[Arrivals]:
        total = (self.start_rate + self.end_rate) / 2 * self.seconds
        for counts in _counts(total, rng if self.poisson else None):
            yield (self._when(counts) * 1e9).astype(np.int64)

    def _when(self, counts: Floats) -> Floats:
        slope = (self.end_rate - self.start_rate) / self.seconds
        root = np.sqrt(np.maximum(self.start_rate**2 + 2 * slope * counts, 0.0))
        # The quadratic's stable form: no cancellation when the slope is small.
        return np.asarray(2 * counts / np.maximum(self.start_rate + root, 1e-300))


def _counts(total: float, rng: np.random.Generator | None) -> Iterator[Floats]:
    last = 0.0
    while last < total:
        if rng is None:
            counts = last + np.arange(BLOCK, dtype=np.float64)
            last += BLOCK
        else:
            counts = last + np.cumsum(rng.exponential(1.0, BLOCK))
            last = float(counts[-1])
        yield counts[counts < total]
