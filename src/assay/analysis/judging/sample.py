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
    """One metric of one side, one value a run. What a program measured repeatedly within a run describes that run only:
    runs of the same code differ by more than that, so no verdict rests on it."""

    values: Floats
    unit: str | None = None
    better: Better | None = None
    within: int = 0
    """Measurements within the runs, all together."""

    @property
    def middle(self) -> float:
        return middle(self.values)


Runs = Sequence[Mapping[str, Metric]]
"""The metrics of each run of one side."""


def sample(runs: Runs, metric: str) -> Sample | None:
    """None without any number."""
    found = [run[metric] for run in runs if metric in run]
    values = [item.number for item in found if item.number is not None and math.isfinite(item.number)]
    if not values:
        return None
    within = sum(len(item.samples) for item in found)
    return Sample(np.array(values, dtype=np.float64), found[-1].unit, found[-1].better, within)
