"""Where between two levels a step lies, and where else it might.

It takes the cost of the step at each place, with the levels on either side held fixed. A place is possible if
it costs at most `THRESHOLD` variances more than the best: 7.35 holds the truth in 95% of cases where the step is small
and levels and noise are known, in more where it is large (Hansen, "Sample splitting and threshold estimation",
Econometrica 68, 2000); here both are measured. The cost is that of what each value adds to what its predecessor
foretells, so that a jump is told from a drift. A value far from both levels is a spike and no evidence for either: its
cost is bounded, above the threshold, so that one clear value is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.stats.changes.series_noise import Noise
from assay.stats.intervals import Floats

THRESHOLD = 9.0
_SPIKE = 4.0
"""Standard deviations from a level at which the cost of a value stops growing; its square is above `THRESHOLD`."""


@dataclass(frozen=True)
class Place:
    index: int
    """The first value at the new level, if it has to be one."""
    earliest: int
    latest: int


def place_step(series: Floats, before: float, after: float, noise: Noise) -> Place:
    """`series`: from the first value of the level before to the last of the level after. At least one of each stays."""
    from_before, from_after = series - before, series - after
    bound = (_SPIKE * noise.fresh) ** 2 if noise.sigma > 0 else ((after - before) / 2) ** 2
    head = _cost(_fresh(from_before, from_before, noise.rho), bound)
    tail = _cost(_fresh(from_after, from_after, noise.rho), bound)
    across = _cost(_fresh(from_after, from_before, noise.rho), bound)
    # A step at p: values before p are at the old level, p goes from the old to the new one, the rest are at the new.
    cost = np.cumsum(head)[:-1] + across[1:] + (tail.sum() - np.cumsum(tail))[1:]
    best = int(np.argmin(cost))
    possible = np.flatnonzero(cost <= cost[best] + THRESHOLD * noise.fresh**2)
    return Place(best + 1, int(possible[0]) + 1, int(possible[-1]) + 1)


def _fresh(distance: Floats, distance_before: Floats, rho: float) -> Floats:
    fresh = distance.copy()
    fresh[1:] -= rho * distance_before[:-1]
    return fresh


def _cost(fresh: Floats, bound: float) -> Floats:
    return np.asarray(np.minimum(fresh**2, bound), dtype=np.float64)
