"""How far one side lies from the other, in logarithms: 0.05 is about 5% more.

Three designs, in falling order of what they can tell:

- `paired_shift`: runs alternate in random order, so that what the machine does to one of a pair it does to the other.
- `unpaired_shift`: all of one side, then all of the other. What the machine did in between looks like a change; it is
  allowed for with the movement between sessions that history shows or, unknown, with `ASSUMED_DRIFT` of the spread.
- `history_shift`: too few runs for either, but the series has a past: would one more value like it be a surprise?

Each gives an interval and a floor. The interval is Student's t around the biweight centre. The floor is what identical
code would show by chance with these numbers and this spread: a smaller shift is not called a change, however neatly the
interval excludes zero, since with ten runs the interval itself is uncertain. The floor takes the spread within each
side, which has twice the degrees of freedom of the differences; that is what keeps false alarms below 1% at 5% noise
while losing less than a 99% interval would. `make bench-truth` prints both error rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from assay.stats.biweight import deviation, location, middle, spread
from assay.stats.distributions import t_quantile, t_two_sided_p
from assay.stats.intervals import Floats

CONFIDENCE = 0.95
FALSE_ALARMS = 0.0065
"""Of the floor, for ten pairs and more; what becomes a verdict is rarer or equal, see `make bench-truth`."""
SPIKE = 10.0
"""Median absolute deviations (6.7 standard deviations) beyond which a run is a spike of the machine."""
ASSUMED_DRIFT = 0.5
"""Standard deviation of a session's level as a share of the spread within it, if history does not know better."""


@dataclass(frozen=True)
class Shift:
    estimate: float
    low: float
    high: float
    p: float
    floor: float
    runs: int
    """Of the smaller side."""
    spikes: int
    confidence: float = CONFIDENCE


def paired_shift(base: Floats, head: Floats, *, looks: int = 1, confidence: float = CONFIDENCE) -> Shift:
    """`base[i]` and `head[i]` are logarithms of a pair. `looks`: how often the same experiment will be judged."""
    n = base.size
    mended_base, wild_base = _mend(base)
    mended_head, wild_head = _mend(head)
    wild = wild_base | wild_head
    differences = mended_head - mended_base
    centre = location(differences)
    # A mended pair adds to the centre but is no evidence of how sure it is.
    error = spread(differences, centre, 13.5) / sqrt(max(2, n - int(wild.sum())))
    within = sqrt((spread(base) ** 2 + spread(head) ** 2) / n)
    return _shift(centre, error, n - 1, within, 2 * n - 2, n, int(wild_base.sum() + wild_head.sum()), looks, confidence)


def unpaired_shift(
    base: Floats, head: Floats, *, between: float | None = None, confidence: float = CONFIDENCE
) -> Shift:
    """`between`: standard deviation of the level from session to session, if history knows it."""
    n, m = base.size, head.size
    s_base, s_head = spread(base), spread(head)
    drift = ASSUMED_DRIFT * sqrt((s_base**2 + s_head**2) / 2) if between is None else between
    error = sqrt(s_base**2 / n + s_head**2 / m + 2 * drift**2)
    spikes = int(_mend(base)[1].sum() + _mend(head)[1].sum())
    centre = location(head) - location(base)
    return _shift(centre, error, n + m - 2, error, n + m - 2, min(n, m), spikes, 1, confidence)


def history_shift(past: Floats, head: Floats, *, confidence: float = CONFIDENCE) -> Shift:
    """`past` has one value a session, so its spread holds what sessions differ by; so has each value of `head`."""
    n = past.size
    error = spread(past) * sqrt(1 + 1 / n)
    centre = middle(head) - location(past)
    return _shift(centre, error, n - 1, error, n - 1, int(head.size), int(_mend(past)[1].sum()), 1, confidence)


def _mend(values: Floats) -> tuple[Floats, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """A spike says nothing about the code; the rest of its side stands in, so that its partner is not lost with it."""
    centre = middle(values)
    wild = np.abs(values - centre) > SPIKE * deviation(values, centre)
    if not wild.any():
        return values, wild
    return np.where(wild, values[~wild].mean(), values), wild


def _shift(
    centre: float,
    error: float,
    df: int,
    floor_error: float,
    floor_df: int,
    runs: int,
    spikes: int,
    looks: int,
    confidence: float,
) -> Shift:
    if df < 1:
        return Shift(centre, -inf, inf, 1.0, inf, runs, spikes, confidence)
    half = t_quantile((1 + confidence) / 2, df) * error
    # Below ten values a side a robust spread is itself a guess: be more careful in proportion. Looks share the error.
    alarms = FALSE_ALARMS * min(1.0, runs / 10 if floor_df == 2 * runs - 2 else 1.0) / looks
    floor = t_quantile(1 - alarms / 2, floor_df) * floor_error
    p = t_two_sided_p(centre / error, df) if error > 0 else (0.0 if centre else 1.0)
    return Shift(centre, centre - half, centre + half, p, floor, runs, spikes, confidence)
