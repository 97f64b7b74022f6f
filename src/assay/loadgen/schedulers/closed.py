from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from assay.loadgen.schedulers.scheduler import Arrivals, LoadScheduler


class ConcurrentLoadScheduler(LoadScheduler):
    """A closed loop: `concurrency` queries in flight, a new one sent when one is done."""

    def __init__(self, concurrency: int) -> None:
        if concurrency < 1:
            raise ValueError(f"concurrency must be at least 1, not {concurrency}")
        self.concurrency: int = concurrency

    def arrivals(self, rng: np.random.Generator) -> Iterator[Arrivals]:
        return iter(())


class SingleStreamLoadScheduler(ConcurrentLoadScheduler):
    """The next query is sent when the last one is done."""

    def __init__(self) -> None:
        super().__init__(1)


class MultiStreamLoadScheduler(ConcurrentLoadScheduler):
    """`streams` queries are sent at once; the next group when all of them are done."""

    grouped: ClassVar[bool] = True

    def __init__(self, streams: int = 8) -> None:
        super().__init__(streams)
