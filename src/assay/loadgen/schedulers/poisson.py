from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.loadgen.schedulers.scheduler import BLOCK, Arrivals, LoadScheduler, positive


class PoissonLoadScheduler(LoadScheduler):
    """Independent users: gaps are exponential."""

    def __init__(self, rate: float) -> None:
        self.rate: float = positive("rate", rate)

    def arrivals(self, rng: np.random.Generator) -> Iterator[Arrivals]:
        last = 0.0
        while True:
            times = last + np.cumsum(rng.exponential(1e9 / self.rate, BLOCK))
            last = float(times[-1])
            yield times.astype(np.int64)
