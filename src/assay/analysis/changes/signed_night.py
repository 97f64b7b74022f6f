"""One run a night of what has no ratio: counts with zeros, throughput that is gone, negative scores.

The watch over nights (`stats.nightly`) is kept on the values themselves instead of their logarithms, in units of what
the nights before were on average.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.analysis.comparing.past import ENOUGH
from assay.analysis.judging.sample import FEWEST
from assay.analysis.sentences import value_sentences as said
from assay.analysis.sentences.metric_words import MetricWords
from assay.analysis.sentences.note_sentences import sessions_compared
from assay.analysis.sentences.verdict_sentences import no_change
from assay.analysis.verdict import Verdict, judge_change
from assay.stats.biweight import middle
from assay.stats.changes.nightly import watch
from assay.stats.intervals import Floats


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
