"""Where to cut a series so that its parts are flat: exact least squares with a price a cut.

Optimal partitioning (Jackson et al., "An algorithm for optimal partitioning of data on an interval", IEEE SPL 12, 2005)
with PELT pruning (Killick et al., JASA 107, 2012). It is what `ruptures.KernelCPD("linear")` computes (a test compares
them) without the second of CPU time that importing ruptures and scipy costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.stats.intervals import Floats, finite
from assay.stats.nightly import SILENCE, Noise, noise_around, white_sigma
from assay.stats.robust import running_median

MIN_SIZE = 3


@dataclass(frozen=True)
class Segments:
    """The parts of a series between cuts; arrays of one value a part, or a cut where it says so."""

    lengths: NDArray[np.intp]
    levels: Floats
    squares: Floats
    """Sum of squares around the level."""

    @classmethod
    def of(cls, series: Floats, cuts: Sequence[int]) -> Segments:
        starts = np.array([0, *cuts], dtype=np.intp)
        lengths = np.diff(np.append(starts, series.size)).astype(np.intp)
        levels = np.add.reduceat(series, starts) / lengths
        return cls(lengths, levels, np.add.reduceat((series - np.repeat(levels, lengths)) ** 2, starts))

    @property
    def heights(self) -> Floats:
        """Height of each cut: the distance between the levels beside it."""
        return np.abs(np.diff(self.levels))

    @property
    def gains(self) -> Floats:
        """What each cut takes off the sum of squares."""
        before, after = self.lengths[:-1], self.lengths[1:]
        return np.asarray(self.heights**2 * before * after / (before + after), dtype=np.float64)

    def variances(self, usual: float, known: int) -> Floats:
        """Variance around the levels beside each cut; the `usual` variance counts as if it came from `known` values
        more."""
        seen = self.lengths[:-1] + self.lengths[1:] - 2
        squares = self.squares[:-1] + self.squares[1:]
        return np.asarray((squares + known * usual) / (seen + known), dtype=np.float64)

    def larger_variances(self, usual: float, known: int) -> Floats:
        """Variance on the noisier side of each cut."""
        each = (self.squares + known * usual) / (self.lengths - 1 + known)
        return np.maximum(each[:-1], each[1:])


def segment(series: Floats, penalty: float, min_size: int = MIN_SIZE) -> list[int]:
    n = series.size
    total = np.concatenate([[0.0], np.cumsum(series)])
    squares = np.concatenate([[0.0], np.cumsum(series**2)])
    best = np.full(n + 1, np.inf)
    best[0] = -penalty
    last = np.zeros(n + 1, dtype=np.intp)
    starts = np.array([0], dtype=np.intp)
    for end in range(min_size, n + 1):
        length = end - starts
        cost = best[starts] + squares[end] - squares[starts] - (total[end] - total[starts]) ** 2 / length
        at = int(np.argmin(cost))
        best[end] = cost[at] + penalty
        last[end] = starts[at]
        # A start that is already worse than the best by a penalty can never win again. The newest start becomes
        # usable once a whole segment fits behind it.
        starts = np.append(starts[cost <= best[end]], end - min_size + 1)
    cuts: list[int] = []
    at = int(last[n])
    while at > 0:
        cuts.append(at)
        at = int(last[at])
    return cuts[::-1]


# Where between two levels a step lies, and where else it might.
#
# It takes the cost of the step at each place, with the levels on either side held fixed. A place is possible if
# it costs at most `THRESHOLD` variances more than the best: 7.35 holds the truth in 95% of cases where the step is
# small
# and levels and noise are known, in more where it is large (Hansen, "Sample splitting and threshold estimation",
# Econometrica 68, 2000); here both are measured. The cost is that of what each value adds to what its predecessor
# foretells, so that a jump is told from a drift. A value far from both levels is a spike and no evidence for either:
# its
# cost is bounded, above the threshold, so that one clear value is enough.

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


# Where a series changed its level: several steps, close together, there and back, up to the newest values.
#
# 1. Logarithms where every value is positive, plain values otherwise (zeros, negative scores) and for counts (whole
#    numbers, some below ten), whose noise does not grow in proportion.
# 2. Spikes are brought to the running median of seven ± 2σ, σ from differences of neighbours. A bump of up to three
#    values is a spike, not a level, unless it is the newest.
# 3. The exact least-squares segmentation (`segmentation`) at a low price gives all steps there might be. The weakest
# is
#    taken out until it is worth `PRICE` · long-run variance · ln n, the variance being measured around the steps that
#    are left; at that price the exact segmentation decides. Beginning with too many steps matters: a step that is not
#    taken out passes for autocorrelation and hides itself and all others (Chakar et al., "A robust approach for
#    estimating change-points in the mean of an AR(1) process", Bernoulli 23, 2017, use differences alone instead,
# which
#    tell the autocorrelation less well).
# 4. Each step is placed on the values as they were, with the range it may lie in (`change_range`).
#
# A step smaller than `FLOOR` of the level is not worth a person's time and is merged away. At 5% noise a step of 5%
# cannot be found reliably by any method we tried; `make bench-truth` says how often.

FLOOR = 0.02
PRICE = 3.5
NIGHTLY_PRICE = 6.0
FEWEST = 8
"""Fewest values of a series in which a step can be told from noise."""
CONFIRMED = 5
"""Values at a new level after which it hardly ever turns out to have been noise."""
_LOW_PRICE = 3.0
_CLIP_SIGMAS = 2.0
_TAIL = 3.0
_FEW = 8
"""Values from which on a level is believed; with fewer, one spike among them could have made it."""
_KNOWN = 10
"""Weight of the whole series' noise, in values: with as many values beside a step, their own noise counts as much."""
_SHORT = 50
"""Fewest values that the price of a step is reckoned with: the noise of a shorter series is not well known."""


@dataclass(frozen=True)
class LevelChange:
    index: int
    """The first value at the new level."""
    ratio: float | None
    """None where `before` is 0."""
    before: float
    after: float
    earliest: int
    """The first value at the new level lies from here to `latest`, in 95 of 100 steps."""
    latest: int


def find_changes(series: ArrayLike, *, price: float = PRICE, floor: float = FLOOR) -> list[LevelChange]:
    values = finite(series)
    if values.size < FEWEST:
        return []
    scaled, logs = _scale(values)
    sigma = white_sigma(scaled)
    centre = running_median(scaled)
    clipped = np.clip(scaled, centre - _CLIP_SIGMAS * sigma, centre + _CLIP_SIGMAS * sigma)
    cuts, noise, full = _cuts(scaled, clipped, sigma, price)
    least = np.log1p(floor) if logs else floor
    cuts = _merge_small(scaled, cuts, least, relative=not logs)
    places = _place_cuts(scaled, cuts, noise, full)
    levels = [float(np.median(part)) for part in np.split(values, [place.index for place in places])]
    return [
        LevelChange(place.index, _ratio(before, after), before, after, place.earliest, place.latest)
        for place, (before, after) in zip(places, pairwise(levels), strict=True)
    ]


def level_since(series: ArrayLike) -> int:
    """Index of the first value of the current level: that of the last change with `CONFIRMED` values behind it, or 0.

    Made for looking every night: the higher price keeps a year of looks from finding what one look would not, and one
    more value moves it only when it confirms a change or, rarely, takes one back (`make bench-truth` counts).
    """
    values = finite(series)
    found = find_changes(values, price=NIGHTLY_PRICE)
    confirmed = [change.index for change in found if change.latest <= values.size - CONFIRMED]
    return confirmed[-1] if confirmed else 0


def _scale(values: Floats) -> tuple[Floats, bool]:
    lowest = values.min()
    counts = lowest < 10 and bool((values == np.round(values)).all())
    if lowest > 0 and not counts:
        return np.log(values), True
    return values, False


def _cuts(scaled: Floats, clipped: Floats, sigma: float, price: float) -> tuple[list[int], Noise, float]:
    """The cuts, the noise around them, and what a step costs in that noise."""
    size = float(np.log(max(scaled.size, _SHORT)))
    cuts = segment(clipped, _LOW_PRICE * sigma**2 * size)
    noise = SILENCE
    while cuts:
        parts = Segments.of(clipped, cuts)
        order = np.argsort(parts.gains, kind="stable")
        reach = max(float(parts.heights[order[0]]), _CLIP_SIGMAS * sigma)
        noise = noise_around(scaled - np.repeat(parts.levels, parts.lengths), len(cuts), reach)
        full = price * noise.long_run * size
        if parts.gains[order[0]] >= full:
            return _worth_it(scaled, segment(clipped, full), noise, full), noise, full
        # The weakest is taken out; of the hundreds that a trend or a random walk has, a twentieth at a time.
        weakest = order[: max(1, len(cuts) // 20)]
        cuts = np.delete(cuts, weakest[parts.gains[weakest] < full]).tolist()
    return [], noise, 0.0


def _worth_it(scaled: Floats, cuts: list[int], noise: Noise, full: float) -> list[int]:
    """Cuts that are worth their price where they stand. Noise is not the same everywhere (zeros, then errors), so the
    price grows with the noise of the two levels beside a step."""
    kept, usual = list(cuts), noise.sigma**2
    while kept and usual > 0:
        parts = Segments.of(_within_tails(scaled, noise), kept)
        worth = parts.gains / (full * np.maximum(1.0, parts.variances(usual, _KNOWN) / usual))
        weakest = int(np.argmin(worth))
        if worth[weakest] >= 1:
            break
        del kept[weakest]
    return kept


def _within_tails(scaled: Floats, noise: Noise) -> Floats:
    centre, reach = running_median(scaled), _TAIL * noise.sigma
    return np.clip(scaled, centre - reach, centre + reach)


def _merge_small(series: Floats, cuts: list[int], least: float, *, relative: bool) -> list[int]:
    kept = list(cuts)
    levels = [float(np.median(part)) for part in np.split(series, kept)]
    while kept:
        sizes = [abs(b - a) / (max(abs(a), abs(b)) if relative and a != b else 1.0) for a, b in pairwise(levels)]
        smallest = int(np.argmin(sizes))
        if sizes[smallest] >= least and sizes[smallest] > 0:
            break
        del kept[smallest]
        # Only the level that was joined is reckoned again: a median takes longer than all else here.
        first, end = [0, *kept, series.size][smallest : smallest + 2]
        levels[smallest : smallest + 2] = [float(np.median(series[first:end]))]
    return kept


def _place_cuts(series: Floats, cuts: list[int], noise: Noise, full: float) -> list[Place]:
    kept = list(cuts)
    while True:
        places = _places(series, kept, noise)
        ends = [0, *(place.index for place in places), series.size]
        spans = zip(ends, ends[1:], ends[2:], strict=False)
        unfit = next((i for i, (a, b, c) in enumerate(spans) if _is_spike(series[a:b], series[b:c], noise, full)), None)
        if unfit is None:
            return places
        del kept[unfit]


def _places(series: Floats, cuts: list[int], noise: Noise) -> list[Place]:
    edges = [0, *cuts, series.size]
    levels = [float(np.median(series[a:b])) for a, b in pairwise(edges)]
    usual = noise.sigma**2
    places = []
    for i, seen in enumerate(Segments.of(_within_tails(series, noise), cuts).larger_variances(usual, _KNOWN)):
        variance = max(usual, float(seen))
        start, end = edges[i], edges[i + 2]
        place = place_step(series[start:end], levels[i], levels[i + 1], Noise(variance**0.5, noise.rho))
        places.append(Place(start + place.index, start + place.earliest, start + place.latest))
    return places


def _is_spike(before: Floats, after: Floats, noise: Noise, full: float) -> bool:
    """Whether a step is only a spike: a level of few values may rest on one or two of them, and without those that lie
    far from it, the step is not worth the price."""
    if min(before.size, after.size) >= _FEW:
        return False
    if min(before.size, after.size) < MIN_SIZE:
        return True
    old, new = float(np.median(before)), float(np.median(after))
    olds, news = (
        int((np.abs(part - level) <= _TAIL * noise.sigma).sum()) for part, level in ((before, old), (after, new))
    )
    return (new - old) ** 2 * olds * news < full * (olds + news)


def _ratio(before: float, after: float) -> float | None:
    return after / before if before else None
