from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from assay.loadgen.schedulers.scheduler import BLOCK, Arrivals, LoadScheduler, positive


class ConstantLoadScheduler(LoadScheduler):
    def __init__(self, rate: float) -> None:
        self.rate: float = positive("rate", rate)

    def arrivals(self, rng: np.random.Generator) -> Iterator[Arrivals]:
        return evenly(self.rate)


def evenly(rate: float) -> Iterator[Arrivals]:
    for block in count():
        yield ((np.arange(BLOCK) + block * BLOCK) * (1e9 / rate)).astype(np.int64)
