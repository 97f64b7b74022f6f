"""Centre and spread that a few wild runs cannot move: Tukey's biweight.

Values further than `REACH` median absolute deviations from the centre get no weight, near ones almost all of it. On
normal noise it loses about 2% against the mean, while a slow run of any size moves it by a bounded amount (Mosteller &
Tukey, Data Analysis and Regression, 1977, ch. 10 and 14; Lax, JASA 80, 1985, for the spread). Used with Student's t as
Kafadar does (J. Res. NBS 87, 1982); her 0.7(n-1) degrees of freedom are for a reach of 6, ours of 9 needs no such cut:
`make bench-truth` shows what its intervals cover.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from assay.stats.intervals import Floats, finite

REACH = 9.0
_STEPS = 5


def middle(values: Floats) -> float:
    """The median. numpy's own takes ten times as long for the ten values that a side usually has."""
    n = values.size
    ordered = np.sort(values)
    return float(ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2)


def deviation(values: Floats, centre: float) -> float:
    """Median absolute deviation; where more than half of the values are equal, the mean one at the same scale."""
    distance = np.abs(values - centre)
    typical = middle(distance)
    return typical if typical > 0 else 0.845 * float(distance.sum()) / distance.size


def location(values: Floats) -> float:
    centre = middle(values)
    scale = deviation(values, centre)
    if scale == 0:
        return centre
    for _ in range(_STEPS):
        u = (values - centre) / (REACH * scale)
        weight = np.maximum(0.0, 1 - u * u) ** 2
        moved = float(weight @ values) / float(weight.sum())
        if abs(moved - centre) <= 1e-9 * scale:
            return moved
        centre = moved
    return centre


def spread(values: Floats, centre: float | None = None, reach: float = REACH) -> float:
    """Root of the biweight midvariance: a standard deviation that leaves wild values out."""
    n = values.size
    if n < 2:
        return 0.0
    median = middle(values)
    around = median if centre is None else centre
    scale = deviation(values, median)
    if scale == 0:
        return 0.0
    u2 = ((values - around) / (reach * scale)) ** 2
    near = u2 < 1
    kept = 1 - u2[near]
    above = float(((values[near] - around) ** 2 * kept**4).sum())
    below = float((kept * (1 - 5 * u2[near])).sum())
    return float(np.sqrt(n * above / (below * max(1.0, below - 1)))) if below > 0 else float(values.std(ddof=1))


# Bring lone spikes back to their neighbourhood, so that one bad run neither hides nor makes a change of level.
#
# A value is clipped to the running median of the seven values around it ± k·σ, where σ comes from the median absolute
# difference of successive values: differences cancel a level or a drift, which a standard deviation counts as noise.
# This is a Hampel filter (Pearson et al., EURASIP J. Adv. Signal Process. 2016:87) with a difference-based scale.

WINDOW = 7
_MAD_TO_SIGMA = 1.4826


def difference_sigma(series: Floats) -> float:
    """The standard deviation of white noise on top of whatever the level does."""
    if series.size < 2:
        return 0.0
    return float(_MAD_TO_SIGMA * np.median(np.abs(np.diff(series))) / np.sqrt(2))


def running_median(series: Floats, window: int = WINDOW) -> Floats:
    half = window // 2
    padded = np.pad(series, half, mode="reflect" if series.size > half else "edge")
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, window), axis=1), dtype=np.float64)


def clip_spikes(series: Floats, sigmas: float = 2.0) -> Floats:
    if series.size < WINDOW:
        return series
    centre = running_median(series)
    reach = sigmas * difference_sigma(series)
    if reach == 0:
        # Most values are equal: there is no scale to call anything a spike by.
        return series
    return np.clip(series, centre - reach, centre + reach)


SPIKE = 10.0
"""Median absolute deviations (6.7 standard deviations) beyond which a run is far from the others."""
MOST = 0.15
"""Largest share of runs that may be far from the others: more of them are no accident but how this program runs."""

Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]


def spikes(base: Floats, head: Floats) -> Flags:
    """Pairs with a run far from all others of its side, where the partner is not as far: something happened to one
    run."""
    mine, theirs = base - middle(base), head - middle(head)
    reach = SPIKE * deviation(np.concatenate([mine, theirs]), 0.0)
    apart = head - base
    centre = middle(apart)
    alone = np.abs(apart - centre) > SPIKE / np.sqrt(2) * deviation(apart, centre)
    far_base, far_head = (np.abs(mine) > reach) & alone, (np.abs(theirs) > reach) & alone
    few = far_base.sum() + far_head.sum() <= MOST * 2 * base.size
    return np.asarray((far_base | far_head) & few, dtype=np.bool_)


# Values that stand apart, for a person to look at. They are reported; nothing is ever dropped for being one.

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


BEYOND = 1.5
"""Factor over the slowest run of the other side from which on a run is slow."""
CERTAIN = 0.001


@dataclass(frozen=True)
class SlowRuns:
    """Runs of one side that the other side has none of: a program that is sometimes slow."""

    count: int
    of: int
    times: float
    """A typical slow run over the other side's median."""
    chance: float
    """Probability that so many fall on one side by chance (Fisher's exact test)."""

    @property
    def certain(self) -> bool:
        return self.chance < CERTAIN


def slow_runs(base: Floats, head: Floats) -> SlowRuns | None:
    """Slow runs in `head`: two or more that took at least `BEYOND` times the largest of `base`."""
    slow = head[head >= BEYOND * base.max()]
    if slow.size < 2 or base.max() <= 0:
        return None
    n, m, k = base.size, head.size, slow.size
    return SlowRuns(k, m, middle(slow) / middle(base), comb(m, k) / comb(n + m, k))


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


FEW = 3
"""Values per distinct value from which on a clock that steps is suspected."""
_FINE = 1e-3
"""Share of the values below which a step does not matter."""


def tick(base: Floats, head: Floats) -> float:
    """The step that values come in, as a share of them; 0 where there is none, or where noise is wider than it.

    Few distinct values that all are multiples of one number: a coarse timer, or a size in pages.
    """
    values = np.concatenate([base, head])
    distinct = np.unique(values)
    if distinct.size < 2 or values.size < FEW * distinct.size or (values <= 0).any():
        return 0.0
    step = _common(distinct)
    typical = min(float(np.median(base)), float(np.median(head)))
    noise = max(float(base.std()), float(head.std()))
    return step / typical if step > _FINE * typical and noise < step else 0.0


def _common(distinct: Floats) -> float:
    """The largest number of which all are multiples, by Euclid, with room for how floats are rounded."""
    step = float(distinct[0])
    for value in distinct[1:]:
        a, b = float(value), step
        while b > 1e-6 * float(distinct[-1]):
            a, b = b, a % b
            if abs(a - b) < 1e-6 * a:
                b = 0.0
        step = a
    return step
