"""Values that stand apart, for a person to look at. They are reported; nothing is ever dropped for being one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assay.stats.biweight import deviation
from assay.stats.intervals import finite

_MAD_TO_SIGMA = 1.4826
MILD, SEVERE = 3.5, 7.0
"""Robust standard deviations; 3.5 is Iglewicz & Hoaglin's (How to Detect and Handle Outliers, 1993)."""


@dataclass(frozen=True)
class Outlier:
    index: int
    value: float
    distance: float
    """Distance from the median in robust standard deviations, negative below it."""

    @property
    def severe(self) -> bool:
        return abs(self.distance) >= SEVERE


def find_outliers(values: ArrayLike) -> list[Outlier]:
    sample = finite(values)
    if sample.size < 5:
        return []
    centre = float(np.median(sample))
    scale = _MAD_TO_SIGMA * deviation(sample, centre)
    if scale == 0:
        return []
    distance = (sample - centre) / scale
    return [Outlier(int(i), float(sample[i]), float(distance[i])) for i in np.flatnonzero(np.abs(distance) >= MILD)]
