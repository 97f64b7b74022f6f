from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np

from assay.loadgen.schedulers.scheduler import BLOCK, Arrivals, LoadScheduler


class PacedLoadScheduler(LoadScheduler):
    """Queries at a rate; at 0, or without one, all are there from the start and the pipeline sets the pace."""

    def __init__(self, rate: float | None) -> None:
        if rate is not None and not rate >= 0:
            raise ValueError(f"rate must be greater than 0, or 0 for as fast as it goes, not {rate}")
        self.rate = rate or None

    @abstractmethod
    def paced(self, rng: np.random.Generator, rate: float) -> Iterator[Arrivals]: ...

    def arrivals(self, rng: np.random.Generator) -> Iterator[Arrivals]:
        if self.rate is not None:
            yield from self.paced(rng, self.rate)
        while True:
            yield np.zeros(BLOCK, np.int64)

    def ends(self, counted: bool, timed: bool) -> bool:
        return counted or (timed and self.rate is not None)
