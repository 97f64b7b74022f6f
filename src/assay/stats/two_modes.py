from __future__ import annotations

import numpy as np

from assay.stats.intervals import Floats

FEWEST = 10
EXPLAINED = 0.93
"""Least share of the variance that two groups must explain; with ten normal values it is about 0.65, seldom 0.9."""

_ROUNDING = 1e-9
"""Share of the values below which a difference is how floats are rounded."""


def two_modes(values: Floats) -> tuple[float, float, int] | None:
    """The two levels that the values have, lower first, and how many are at the upper; None if there are not two.

    The split of the ordered values that explains most of their variance (Fisher, JASA 53, 1958).
    """
    n = values.size
    ordered = np.sort(values)
    total = float(((ordered - ordered.mean()) ** 2).sum())
    if n < FEWEST or ordered[-1] - ordered[0] <= _ROUNDING * abs(ordered[-1]):
        return None
    at = np.arange(2, n - 1)
    sums = np.cumsum(ordered)
    between = (sums[at - 1] - at * ordered.mean()) ** 2 * n / (at * (n - at))
    best = int(np.argmax(between))
    if between[best] < EXPLAINED * total:
        return None
    cut = int(at[best])
    return float(ordered[:cut].mean()), float(ordered[cut:].mean()), n - cut
