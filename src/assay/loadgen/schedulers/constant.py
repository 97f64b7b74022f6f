from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from assay.loadgen.schedulers.paced import PacedLoadScheduler
from assay.loadgen.schedulers.scheduler import BLOCK, Arrivals


class ConstantLoadScheduler(PacedLoadScheduler):
    def __init__(self, rate: float) -> None:
        super().__init__(rate)

    def paced(self, rng: np.random.Generator, rate: float) -> Iterator[Arrivals]:
        return evenly(rate)


def evenly(rate: float) -> Iterator[Arrivals]:
    for block in count():
        yield ((np.arange(BLOCK) + block * BLOCK) * (1e9 / rate)).astype(np.int64)
