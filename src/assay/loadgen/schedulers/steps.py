from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from assay.loadgen.schedulers.ramp import RampLoadScheduler
from assay.loadgen.schedulers.scheduler import Arrivals, LoadScheduler


class StepsLoadScheduler(LoadScheduler):
    """One rate after another: `steps: [{rate: 100, seconds: 10}, {rate: 200, seconds: 10}]`."""

    def __init__(self, steps: Sequence[Mapping[str, float]], poisson: bool = False) -> None:
        if not steps:
            raise ValueError("steps must not be empty")
        self.steps = []
        for number, step in enumerate(steps):
            if set(step) != {"rate", "seconds"}:
                raise ValueError(
                    f"steps[{number}] must have rate and seconds, not {', '.join(sorted(step)) or 'nothing'}"
                )
            self.steps.append(RampLoadScheduler(step["rate"], step["rate"], step["seconds"], poisson))
        self.seconds: float = sum(step.seconds for step in self.steps)
        self.rate = sum(step.start_rate * step.seconds for step in self.steps) / self.seconds

    def ends(self, counted: bool, timed: bool) -> bool:
        return True

    def arrivals(self, rng: np.random.Generator) -> Iterator[Arrivals]:
        begin = 0
        for step in self.steps:
            for block in step.arrivals(rng):
                yield begin + block
            begin += int(step.seconds * 1e9)
