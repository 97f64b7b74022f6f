from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.loadgen.schedulers.paced import PacedLoadScheduler
from assay.loadgen.schedulers.scheduler import BLOCK, Arrivals


class PoissonLoadScheduler(PacedLoadScheduler):
    """Independent users: gaps are exponential."""

    def __init__(self, rate: float) -> None:
        super().__init__(rate)

    def paced(self, rng: np.random.Generator, rate: float) -> Iterator[Arrivals]:
        last = 0.0
        while True:
            times = last + np.cumsum(rng.exponential(1e9 / rate, BLOCK))
            last = float(times[-1])
            yield times.astype(np.int64)
