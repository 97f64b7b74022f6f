"""One value a night: is tonight still at the level of the nights before?

A night beyond the level is named at once, and believed when the next is beyond it on the same side: one alarm. From
then on the new level is what nights are held against, so that a lasting change is not announced again until it moves.
Where the level itself has had nights as far away (spikes, a second mode), more in a row are asked for, as many as
chance would take years to bring: several in a row are rare in any noise that is drawn anew each night, while a
threshold on a single night is right only in the noise it was made for. Drift makes neighbours alike, so the reach grows
with the autocorrelation of the level's nights (Marriott & Pope, Biometrika 41, 1954, for its bias).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, log, log1p, sqrt
from typing import Literal

import numpy as np

from assay.stats.intervals import Floats, t_quantile
from assay.stats.robust import deviation, middle

# How much a series moves by itself, told apart from changes of its level.
#
# Differences of neighbours cancel a level, so their mean square needs no knowledge of the steps; what is left around
# the
# steps found tells the autocorrelation, which differences tell only roughly. The price of a step rests on the long-
# run
# variance, σ²·(1 + ρ)/(1 − ρ) for AR(1) noise: the variance of a mean of k such values is about that over k.

_MOST_CORRELATED = 0.95
_QUARTILE_TO_SIGMA = 1.1503
"""Upper quartile of |z| of normal noise. The median instead would take a mode that holds a third of the runs for
outliers."""
_REACH = 3.0
_TAKEN = 2.0
"""Degrees of freedom that a segment costs: put where it explains most, it takes as much noise as two put anywhere."""


def white_sigma(series: Floats) -> float:
    """Standard deviation of independent noise with these differences. A larger one (step, spike) counts as three times
    the usual size."""
    sizes = np.abs(np.diff(series))
    if sizes.size == 0:
        return 0.0
    usual = float(np.quantile(sizes, 0.75)) / _QUARTILE_TO_SIGMA
    return float(np.sqrt(np.mean(np.minimum(sizes, _REACH * usual) ** 2) / 2))


@dataclass(frozen=True)
class Noise:
    """AR(1) noise."""

    sigma: float
    rho: float

    @property
    def long_run(self) -> float:
        """Variance of the mean of k values is about this over k."""
        return self.sigma**2 * (1 + self.rho) / (1 - self.rho)

    @property
    def fresh(self) -> float:
        """Standard deviation of what each value adds to what its predecessor foretells."""
        return self.sigma * float(np.sqrt(1 - self.rho**2))


SILENCE = Noise(0.0, 0.0)


def noise_around(distances: Floats, cuts: int, reach: float) -> Noise:
    """Noise around the levels. `distances`: of the values from their levels, each counted as at most `reach`; `cuts`:
    number of steps between the levels."""
    left = np.clip(distances, -reach, reach)
    left -= left.mean()
    taken = 1 + _TAKEN * cuts
    n = left.size
    square = float(left @ left)
    if square == 0 or n <= taken:
        return SILENCE
    measured = float(left[1:] @ left[:-1]) / square
    # Taking levels out makes the rest look less correlated than it was (Marriott & Pope, 1954).
    rho = min(_MOST_CORRELATED, max(0.0, measured + (1 + 3 * measured) * taken / n))
    return Noise(float(np.sqrt(square / (n - taken))), rho)


WINDOW = 120
"""Most nights that are looked at: an older one says little about tonight."""
ALARMS = 0.0165
"""Two-sided share of single nights beyond the reach, in normal noise; twice in a row is what makes an alarm."""
CORRELATED = 0.6
FAR = 5.0
"""Median absolute deviations (3.4 standard deviations) to which nights are clipped before their spread is taken."""
YEARS = 10
LEAST = log1p(0.03)
"""Smallest reach: smaller changes are seldom worth a person's time."""

Side = Literal[-1, 0, 1]


@dataclass(frozen=True)
class Night:
    """Tonight compared with the level that the nights before it had; all values are logarithms."""

    since: int
    """Index of the first night of the level that tonight is compared with."""
    level: float
    reach: float
    """How far from the level a night may lie."""
    side: Side
    """Where tonight lies: beyond the reach above (1) or below (-1), or within it (0)."""
    alarm: bool
    """Whether enough nights in a row were beyond the reach on that side: a change, told tonight and not again."""
    moved: float
    """How far the present level lies from the one before it; 0 if the level has never changed."""


def watch(values: Floats, begin: int = 10) -> Night:
    """Judges the last value, given all before it. The first `begin` values make the first level."""
    return next(_nights(values, begin, values.size - 1), Night(0, float(values[0]), LEAST, 0, False, 0.0))


def nights(values: Floats, begin: int = 10) -> Iterator[Night]:
    """Judges each value from the `begin`-th on, given all before it; of fewer values, only the last."""
    return _nights(values, begin, 0)


def _nights(values: Floats, begin: int, told_from: int) -> Iterator[Night]:
    """Nights from index `told_from` on. Those before are only walked over: most lie so near their level that the
    reach, which takes nearly all of the time, need not be known."""
    since, moved = 0, 0.0
    streak, last, nearest = 0, 0, 0.0
    earlier = np.empty(0)
    window = _Window(values)
    for at in range(max(1, min(begin, values.size - 1)), values.size):
        first = max(since, at - WINDOW)
        level = middle(values[first : at - streak]) if streak else window.median(first, at)
        beyond = float(values[at]) - level
        if not streak and at < told_from and abs(beyond) <= LEAST:
            last = 0
            continue
        told = values[first : at - streak]
        # A level that has just begun has no noise of its own yet: that of the one before it stands in.
        noise = np.concatenate([earlier, told - level])[-WINDOW:]
        reach = _reach(noise, told.size)
        side: Side = 0 if abs(beyond) <= reach else 1 if beyond > 0 else -1
        going_on = side != 0 and side == last
        streak = streak + 1 if going_on else int(side != 0)
        nearest = min(nearest, beyond, key=abs) if going_on else beyond
        last = side
        alarm = streak > 1 and streak >= _enough(noise, nearest)
        if at >= told_from:
            yield Night(since, level, reach, side, alarm, moved)
        if alarm:
            since, moved = at - streak + 1, middle(values[at - streak + 1 : at + 1]) - level
            streak, last, earlier = 0, 0, noise


class _Window:
    """Median over a window that moves on along a series; the values in it are kept sorted, not sorted anew."""

    def __init__(self, values: Floats) -> None:
        self._values = values.tolist()
        self._first = self._end = 0
        self._ordered: list[float] = []

    def median(self, first: int, end: int) -> float:
        """Median of the values from `first` up to and without `end`; neither ever goes back."""
        for at in range(self._end, end):
            insort(self._ordered, self._values[at])
        for at in range(self._first, first):
            del self._ordered[bisect_left(self._ordered, self._values[at])]
        self._first, self._end = first, end
        n = end - first
        return self._ordered[n // 2] if n % 2 else (self._ordered[n // 2 - 1] + self._ordered[n // 2]) / 2


def _enough(noise: Floats, nearest: float) -> int:
    """Nights in a row beyond the reach that chance alone brings once in `YEARS`. It rests on how many nights before
    were at least as far on that side as the `nearest` of these: one night of a second mode may be the farthest so far,
    two in a row seldom are."""
    seen = int((noise * (1 if nearest > 0 else -1) >= abs(nearest)).sum())
    share = (seen + 1) / (noise.size + 1)
    return max(2, ceil(log(1 / (365 * YEARS)) / log(share))) if 0 < seen < noise.size else 2


def _reach(noise: Floats, told: int) -> float:
    """How far a night may lie from the level, by the standard deviation and autocorrelation of the nights before;
    those far from all others are left out."""
    centre = middle(noise)
    far = FAR * deviation(noise, centre)
    near = np.clip(noise, centre - far, centre + far)
    around = near - near.mean()
    square = float(around @ around)
    if noise.size < 2 or square == 0.0:
        return LEAST
    measured = float(around[1:] @ around[:-1]) / square
    correlation = min(0.9, max(0.0, measured + (1 + 3 * measured) / noise.size))
    sigma = sqrt(square / (noise.size - 1)) * sqrt(1 + 1 / max(1, told)) * (1 + CORRELATED * correlation)
    return max(LEAST, t_quantile(1 - ALARMS / 2, noise.size - 1) * sigma)
