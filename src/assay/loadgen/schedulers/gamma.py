from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.loadgen.schedulers.scheduler import BLOCK, Arrivals, LoadScheduler, positive


class GammaLoadScheduler(LoadScheduler):
    """Bursty traffic: gaps are gamma-distributed with a coefficient of variation `cv`.

    A cv of 1 is Poisson, above it queries come in bursts, below it they are more even.
    """

    def __init__(self, rate: float, cv: float = 2.0) -> None:
        self.rate: float = positive("rate", rate)
        self.cv = positive("cv", cv)

    def arrivals(self, rng: np.random.Generator) -> Iterator[Arrivals]:
        shape = 1 / self.cv**2
        last = 0.0
        while True:
            times = last + np.cumsum(rng.gamma(shape, 1e9 / self.rate / shape, BLOCK))
            last = float(times[-1])
            yield times.astype(np.int64)
