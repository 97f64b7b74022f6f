from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.record import Metric
from assay.record.metric import Better
from assay.stats.biweight import middle
from assay.stats.intervals import Floats

FEWEST = 6
"""Five pairs cannot reach p = .05 by signs alone, whatever they show."""


@dataclass(frozen=True)
class Sample:
    """One metric of one side. `iterations` when the values are repeated measurements within runs."""

    values: Floats
    unit: str | None = None
    better: Better | None = None
    iterations: bool = False

    @property
    def middle(self) -> float:
        return middle(self.values)


Runs = Sequence[Mapping[str, Metric]]
"""The metrics of each run of one side."""


def sample(runs: Runs, metric: str, *, iterations: bool = False) -> Sample | None:
    """One value a run, or with `iterations` everything measured within the runs. None without any number."""
    found = [run[metric] for run in runs if metric in run]
    if iterations:
        values = [value for item in found for value in item.samples]
    else:
        values = [item.number for item in found if item.number is not None]
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return None
    return Sample(np.array(finite, dtype=np.float64), found[-1].unit, found[-1].better, iterations)


def both_sides(base: Runs, head: Runs, metric: str) -> tuple[Sample, Sample] | None:
    """Runs are the samples; where they are few and both sides measured repeatedly within them, iterations are."""
    plain = sample(base, metric), sample(head, metric)
    if plain[0] is None or plain[1] is None:
        return None
    if min(plain[0].values.size, plain[1].values.size) < FEWEST:
        inner = sample(base, metric, iterations=True), sample(head, metric, iterations=True)
        if inner[0] is not None and inner[1] is not None:
            return inner[0], inner[1]
    return plain[0], plain[1]
