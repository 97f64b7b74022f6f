"""How far one side lies from the other, in logarithms: 0.05 is about 5% more.

Three designs, in falling order of what they can tell:

- `paired_shift`: runs alternate in random order, so that what the machine does to one of a pair it does to the other.
- `level_shift`: a session against the level that earlier sessions of the same benchmark had. Their movement from
  session to session is known, and what lies within it is no change.
- `unpaired_shift`: all of one side, then all of the other, and no past. What the machine did in between looks like a
  change; levels of machines move by a few per cent, so that only a large shift is told from it (`ASSUMED_LEVEL`).

Each gives an interval (Student's t) and a floor: what identical code shows by chance in all but a few of a thousand
comparisons. For pairs the floor is the smaller of two, one from the differences of the pairs, which cancel what a pair
shares, and one from the spread within each side, which has twice the degrees of freedom. Both are plain standard
deviations: a robust spread takes the rarer of two modes for noise that is not there. A shift that random signs of the
same differences would give as often (sign-flip test; Fisher 1935) is below its floor, whatever t says: few pairs in two
modes are not normal. `make bench-truth` prints how often all of it is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, inf, log, sqrt

import numpy as np

from assay.stats.intervals import Floats, normal_quantile, t_quantile, t_two_sided_p
from assay.stats.robust import deviation, middle, spikes

# How often random signs give differences a mean as far from zero (Fisher, The Design of Experiments, 1935, §21).
#
# Under identical code which of a pair is A is a coin toss, so this holds whatever the noise looks like. All patterns
# for
# up to twelve differences, beyond that a fixed sample of them: the same data always give the same answer.

_ALL = 12
_SAMPLED = 8192


def sign_flip_p(differences: Floats) -> float:
    sums = np.abs(_signs(differences.size) @ differences)
    return float(np.mean(sums >= abs(differences.sum()) * (1 - 1e-12)))


@lru_cache(maxsize=32)
def _signs(count: int) -> Floats:
    """Patterns of signs. The first sign is always plus: a pattern and its mirror image give the same size."""
    if count <= _ALL:
        patterns = np.arange(2 ** (count - 1))[:, None] >> np.arange(count - 1) & 1
    else:
        patterns = np.random.default_rng(count).integers(0, 2, (_SAMPLED, count - 1))
    return np.hstack([np.ones((len(patterns), 1)), 1.0 - 2.0 * patterns])


# When to look at an experiment that goes on until it is sure.
#
# Looking after every pair would raise a false alarm sooner or later. It is looked at after each block only, and the
# looks
# share the error of a single one (Bonferroni over the planned looks; Pocock's bounds, Biometrika 64, 1977, would be a
# little tighter). With blocks of ten and a budget of sixty that costs about two pairs.

BLOCK = 10


def looks(budget: int, block: int = BLOCK) -> list[int]:
    """Numbers of pairs after which to judge; the last is the budget."""
    if budget < 1:
        raise ValueError("a budget of at least one pair is needed")
    return sorted({*range(block, budget, block), budget})


# Many questions at once: Benjamini & Hochberg's step-up procedure (J. R. Stat. Soc. B 57, 1995).

RATE = 0.02
"""False discovery rate that is aimed at. Lower than the 5% that a table may have, because p-values of ten pairs in two
modes are up to twice too small (`make bench-truth`)."""
_CHOSEN = 10
"""Largest factor for a p from which spikes were left out."""


def count_among(p: float, left_out: int, rows: int) -> float:
    """The p that goes into the correction for `rows`. Where runs were left out after looking at them (spikes), p is too
    small, and with many rows some profit by chance: it is multiplied by the rows, at most ten times."""
    return min(1.0, p * min(_CHOSEN, rows)) if left_out else p


def adjust(p_values: Sequence[float]) -> list[float]:
    """Each p as the smallest false discovery rate at which it would still be a discovery, in the order given."""
    p = np.asarray(p_values, dtype=np.float64)
    if p.size == 0:
        return []
    order = np.argsort(p)
    scaled = p[order] * p.size / np.arange(1, p.size + 1)
    stepped = np.minimum.accumulate(scaled[::-1])[::-1]
    result = np.empty_like(p)
    result[order] = np.minimum(stepped, 1.0)
    return [float(value) for value in result]


# Where to spend repeats: Kalibera & Jones, "Rigorous benchmarking in reasonable time", ISMM 2013.
#
# A result varies between iterations of one run and between runs. Repeating iterations is cheap but cannot average out
# what differs from run to run. For the cheapest given precision the number of iterations a run is √(c₂/c₁ · T₁²/T₂²),
# c being the cost of a level (c₂: start-up and warm-up of a run; c₁: one iteration) and T² its own variance.


@dataclass(frozen=True)
class Repeats:
    iterations: int
    runs: int
    """Runs of that many iterations for the relative half-width asked for."""
    within: float
    between: float
    """Coefficients of variation of the two levels; `between` is 0 if runs differ no more than their iterations."""


def plan_repeats(
    runs: Sequence[Sequence[float]], *, run_cost: float, iteration_cost: float, half_width: float = 0.02
) -> Repeats:
    """`runs` holds the iterations of each run of a pilot, warm-up left out: two runs of two at the least."""
    levels = [np.asarray(run, dtype=np.float64) for run in runs if len(run) >= 2]
    if len(levels) < 2:
        raise ValueError("a pilot needs at least two runs of at least two iterations")
    means = np.array([level.mean() for level in levels])
    mean = float(means.mean())
    within = float(np.mean([level.var(ddof=1) for level in levels]))
    size = float(np.mean([level.size for level in levels]))
    between = max(0.0, float(means.var(ddof=1)) - within / size)
    most = max(level.size for level in levels) * 100
    ratio = run_cost / iteration_cost * within / between if between > 0 else inf
    iterations = max(1, ceil(sqrt(ratio))) if ratio < most**2 else most
    variance = between + within / iterations
    runs_needed = ceil((1.96 / half_width) ** 2 * variance / mean**2) if mean else 1
    return Repeats(iterations, max(2, runs_needed), sqrt(within) / mean, sqrt(between) / mean)


CONFIDENCE = 0.95
PAIRS_ALARMS = 0.008
"""Share of false alarms allowed to the floor from differences of pairs; WITHIN_ALARMS to the one from within the
sides. Together they stay below 1%."""
WITHIN_ALARMS = 0.005
FLIP_ALARMS = 0.015
LEVEL_ALARMS = 0.01
"""Share of false alarms allowed to the floor against earlier sessions."""
ASSUMED_LEVEL = 0.032
"""Standard deviation of a session's level where nothing is known of the past, 3.2%: what shared machines show."""
ASSUMED_DRIFT = 0.5
"""Standard deviation of a session's level as a share of the spread within it, where nothing is known of the past."""
_FLIPS_TO = 30
"""Most pairs of which signs are flipped: the mean of more is normal enough. Very few have too few patterns to tell."""
_TRIMMED_FROM = 20
_MEDIAN_ERROR = 1.25 * 1.4826
"""Factor from median absolute deviation to standard error of a median, before √n: 1.25 for a median in place of a
mean, 1.4826 for a standard deviation."""


@dataclass(frozen=True)
class Shift:
    estimate: float
    low: float
    high: float
    p: float
    floor: float
    runs: int
    """Runs on the smaller side."""
    spikes: int
    """Lone runs far from all others, left out with their partners."""
    confidence: float = CONFIDENCE


def paired_shift(base: Floats, head: Floats, *, looks: int = 1, confidence: float = CONFIDENCE) -> Shift:
    """Shift between pairs: `base[i]` and `head[i]` are logarithms of one. `looks`: how often the experiment is
    judged."""
    wild = spikes(base, head)
    kept_base, kept_head = base[~wild], head[~wild]
    n = kept_base.size
    differences = kept_head - kept_base
    centre = float(differences.mean())
    if n < 2:
        return Shift(centre, -inf, inf, 1.0, inf, n, int(wild.sum()), confidence)
    error, df = float(differences.std(ddof=1)) / sqrt(n), n - 1
    within = sqrt(float(kept_base.var(ddof=1) + kept_head.var(ddof=1)) / n)
    if n >= _TRIMMED_FROM:
        centre, error, df = _trim(differences)
    share = min(1.0, n / 10) / looks / 2
    floor = t_quantile(1 - PAIRS_ALARMS * share, df) * error
    floor = min(floor, t_quantile(1 - WITHIN_ALARMS * share, 2 * n - 2) * within)
    beyond = abs(centre) > floor and n <= _FLIPS_TO and 0.5 ** (n - 1) <= FLIP_ALARMS / looks
    if beyond and sign_flip_p(differences) > FLIP_ALARMS / looks:
        floor = abs(centre)
    return _shift(centre, error, df, floor, n, int(wild.sum()), confidence)


def _trim(differences: Floats) -> tuple[float, float, int]:
    """Mean, standard error and degrees of freedom without 15% at either end (Tukey & McLaughlin, Sankhya A 25,
    1963): with twenty differences or more, enough is left without a few slow runs of either side."""
    ordered = np.sort(differences)
    n = ordered.size
    cut = round(0.15 * n)
    inner = ordered[cut : n - cut]
    winsorised = np.clip(ordered, inner[0], inner[-1])
    return float(inner.mean()), float(winsorised.std(ddof=1)) * sqrt(n) / inner.size, inner.size - 1


def unpaired_shift(
    base: Floats, head: Floats, *, between: float | None = None, confidence: float = CONFIDENCE
) -> Shift:
    """`between`: standard deviation of a session's level. Where it is not known, half the spread of the runs is added
    to the interval for drift, and a change must be larger than levels of shared machines are assumed to move."""
    n, m = base.size, head.size
    centre = float(head.mean() - base.mean())
    if min(n, m) < 2:
        return Shift(centre, -inf, inf, 1.0, inf, min(n, m), 0, confidence)
    runs = float(base.var(ddof=1)) / n + float(head.var(ddof=1)) / m
    drift = ASSUMED_DRIFT * sqrt(float(base.var(ddof=1) + head.var(ddof=1)) / 2) if between is None else between
    error = sqrt(runs + 2 * drift**2)
    floor = t_quantile(1 - LEVEL_ALARMS / 2, n + m - 2) * error
    if between is None:
        floor = sqrt(floor**2 + 2 * (normal_quantile(1 - LEVEL_ALARMS / 2) * ASSUMED_LEVEL) ** 2)
    return _shift(centre, error, n + m - 2, floor, min(n, m), 0, confidence)


def level_shift(past: Floats, head: Floats, *, confidence: float = CONFIDENCE) -> Shift:
    """`past`: one level a session, oldest first; `head`: the runs of the session in question.

    The head's own noise is in the movement of the past, since each level there had it too. A level within those seen
    before is no change, whatever their standard deviation; nor is one beyond them by no more than the error of its own
    median.
    """
    n = past.size
    error = float(past.std(ddof=1)) * sqrt(1 + 1 / n)
    level = float(past.mean())
    centre = middle(head) - level
    floor = t_quantile(1 - LEVEL_ALARMS / 2, n - 1) * error
    farthest = float(past.max()) - level if centre > 0 else level - float(past.min())
    if head.size > 1:
        farthest += _MEDIAN_ERROR * deviation(head, middle(head)) / sqrt(head.size)
    return _shift(centre, error, n - 1, max(floor, farthest), int(head.size), 0, confidence)


def at_least(shift: Shift, tick: float) -> Shift:
    """The shift with an interval and a floor of at least one step that values come in, `tick` of their size."""
    reach = log(1 + tick)
    low, high = min(shift.low, shift.estimate - reach), max(shift.high, shift.estimate + reach)
    return Shift(
        shift.estimate, low, high, shift.p, max(shift.floor, reach), shift.runs, shift.spikes, shift.confidence
    )


def _shift(centre: float, error: float, df: int, floor: float, runs: int, spikes: int, confidence: float) -> Shift:
    half = t_quantile((1 + confidence) / 2, df) * error
    p = t_two_sided_p(centre / error, df) if error > 0 else (0.0 if centre else 1.0)
    return Shift(centre, centre - half, centre + half, p, floor, runs, spikes, confidence)
