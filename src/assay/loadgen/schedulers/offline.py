from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.loadgen.schedulers.constant import evenly
from assay.loadgen.schedulers.scheduler import BLOCK, Arrivals, LoadScheduler, positive


class OfflineLoadScheduler(LoadScheduler):
    """Everything at once; evenly paced where a rate is given."""

    def __init__(self, rate: float | None = None) -> None:
        self.rate = None if rate is None else positive("rate", rate)

    def arrivals(self, rng: np.random.Generator) -> Iterator[Arrivals]:
        if self.rate is not None:
            yield from evenly(self.rate)
        while True:
            yield np.zeros(BLOCK, np.int64)

    def ends(self, counted: bool, timed: bool) -> bool:
        return counted or (timed and self.rate is not None)
