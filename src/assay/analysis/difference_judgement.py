"""Values that have no ratio: zeros, negative scores, counts of rare things. Differences are judged instead."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from assay.analysis.comparison import Verdict, judge_change
from assay.analysis.evidence import ENOUGH, FEWEST, fewest
from assay.analysis.sentences import value_sentences as said
from assay.analysis.sentences.metric_words import MetricWords
from assay.analysis.sentences.note_sentences import sessions_compared
from assay.analysis.sentences.verdict_sentences import no_change
from assay.stats.intervals import Floats, binomial_at_most, t_two_sided_p
from assay.stats.nightly import watch
from assay.stats.robust import middle

ALARMS = 0.01


def judge_signed(
    before: Floats, after: Floats, words: MetricWords, margin: float, paired: bool = False
) -> tuple[Verdict, str]:
    """Changed if chance brings such a difference less than once in a hundred times. Counts (whole numbers from zero on)
    must also differ by more than a Poisson count does by itself."""
    old, new = middle(before), middle(after)
    if min(before.size, after.size) < fewest(paired):
        return Verdict.INCONCLUSIVE, said.too_few(words, old, new, (before.size, after.size))
    if np.ptp(before) == 0 and np.ptp(after) == 0 and old == new:
        return Verdict.EQUIVALENT, said.always(words, old)
    difference = float(after.mean() - before.mean())
    p = max(_difference_p(before, after, paired), _count_p(before, after))
    scale = max(abs(float(before.mean())), abs(float(after.mean())))
    if p < ALARMS and abs(difference) > margin * scale:
        return judge_change(difference, words.better, said.differs(words, old, new))
    if p < ALARMS:
        return Verdict.INCONCLUSIVE, said.differs_little(words, old, new, margin)
    return Verdict.INCONCLUSIVE, said.may_be_chance(words, old, new)


def _difference_p(before: Floats, after: Floats, paired: bool) -> float:
    if paired and before.size == after.size:
        apart = after - before
        error, df = float(apart.std(ddof=1)) / sqrt(apart.size), apart.size - 1
    else:
        error = sqrt(float(before.var(ddof=1)) / before.size + float(after.var(ddof=1)) / after.size)
        df = before.size + after.size - 2
    difference = float(after.mean() - before.mean())
    return t_two_sided_p(difference / error, df) if error > 0 else (0.0 if difference else 1.0)


def _count_p(before: Floats, after: Floats) -> float:
    """How often so uneven a split of all that was counted comes by chance (Przyborowski & Wilenski, 1940)."""
    both = np.concatenate([before, after])
    if (both < 0).any() or (both != np.round(both)).any() or both.max() > 1000:
        return 0.0
    total, few = int(both.sum()), int(min(before.sum(), after.sum()))
    share = (before.size if before.sum() <= after.sum() else after.size) / both.size
    return min(1.0, 2 * binomial_at_most(few, total, share))


# One run a night of what has no ratio: counts with zeros, throughput that is gone, negative scores.
#
# The watch over nights (`stats.nightly`) is kept on the values themselves instead of their logarithms, in units of
# what
# the nights before were on average.


@dataclass(frozen=True)
class SignedNight:
    verdict: Verdict
    reason: str
    level: float
    """Level of the nights that tonight is compared with."""
    ratio: float | None
    """Tonight over the level; None where that is not above zero, or tonight below it."""
    notes: tuple[str, ...]


def is_signed_night(past: Floats, base: Floats, head: Floats) -> bool:
    """Fewer runs than a verdict needs, enough nights before them, and something among them that has no logarithm."""
    few = min(base.size, head.size) < FEWEST
    return few and past.size >= ENOUGH and bool(min(past.min(), base.min(), head.min()) <= 0)


def judge_signed_night(past: Floats, base: Floats, head: Floats, words: MetricWords, margin: float) -> SignedNight:
    """`past`: one value a session before the base, oldest first."""
    values = np.concatenate([past, [middle(base), middle(head)]])
    scale = float(np.abs(past).mean()) or float(np.abs(values).max()) or 1.0
    night = watch(values / scale)
    tonight, level, reach = float(values[-1]), night.level * scale, night.reach * scale
    if night.alarm:
        verdict, reason = judge_change(tonight - level, words.better, said.for_sessions(words, level, tonight))
    elif night.side:
        verdict, reason = Verdict.INCONCLUSIVE, said.once(words, level, tonight)
    elif np.ptp(head) > reach:
        verdict, reason = Verdict.INCONCLUSIVE, said.runs_differ(words, float(head.min()), float(head.max()))
    elif tonight == level and not np.ptp(values[night.since :]):
        verdict, reason = Verdict.EQUIVALENT, said.as_ever(words, tonight)
    elif reach <= margin * abs(level):
        verdict, reason = Verdict.EQUIVALENT, no_change(margin)
    else:
        verdict, reason = Verdict.INCONCLUSIVE, said.as_sessions_differ(words, level, tonight, reach)
    note = sessions_compared(values.size - 1 - night.since, since_a_change=bool(night.since))
    ratio = tonight / level if level > 0 and tonight >= 0 else None
    return SignedNight(verdict, reason, level, ratio, (note,))
