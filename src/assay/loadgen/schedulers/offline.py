from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.loadgen.schedulers.constant import evenly
from assay.loadgen.schedulers.paced import PacedLoadScheduler
from assay.loadgen.schedulers.scheduler import Arrivals


class OfflineLoadScheduler(PacedLoadScheduler):
    """Everything at once; evenly paced where a rate is given."""

    def __init__(self, rate: float | None = None) -> None:
        super().__init__(rate)

    def paced(self, rng: np.random.Generator, rate: float) -> Iterator[Arrivals]:
        return evenly(rate)
