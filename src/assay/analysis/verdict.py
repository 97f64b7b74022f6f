from __future__ import annotations

from enum import StrEnum
from math import log1p

from assay.analysis.sentences import verdict_sentences as said
from assay.analysis.sentences.metric_words import MetricWords
from assay.record.metric import Better
from assay.stats.false_discovery import RATE
from assay.stats.shift import Shift


class Verdict(StrEnum):
    IMPROVED = "improved"
    REGRESSED = "regressed"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"
    NOT_COMPARABLE = "not comparable"


def verdict_of(
    shift: Shift,
    better: Better | None,
    margin: float,
    adjusted_p: float,
    advice: str = said.MORE_RUNS,
    words: MetricWords | None = None,
) -> tuple[Verdict, str]:
    """The rule, and in words what it rested on; `advice` is what would tell where this does not, `words` what a change
    of this metric is called.

    Changed: the interval excludes 1, the median is beyond the margin and beyond what chance alone would show, and it
    survives the correction for all rows of the table. Equivalent: the interval lies inside the margin.
    """
    words = words or MetricWords.of("", None, better)
    reach = log1p(margin)
    if -reach <= shift.low and shift.high <= reach:
        return Verdict.EQUIVALENT, said.no_change(margin)
    excludes = shift.low > 0 or shift.high < 0
    beyond = abs(shift.estimate) > reach
    by_chance = abs(shift.estimate) <= shift.floor
    if excludes and beyond and not by_chance:
        if shift.p > RATE:
            return Verdict.INCONCLUSIVE, said.may_be_chance(words, shift, advice)
        if adjusted_p > RATE:
            return Verdict.INCONCLUSIVE, said.one_of_many(words, shift)
        return judge_change(shift.estimate, better, said.change(words, shift, margin))
    if not excludes:
        return Verdict.INCONCLUSIVE, said.holds_no_change(words, shift, advice)
    if by_chance and beyond:
        return Verdict.INCONCLUSIVE, said.within_noise(words, shift, advice)
    return Verdict.INCONCLUSIVE, said.near_the_margin(words, shift, margin)


def judge_change(by: float, better: Better | None, reason: str) -> tuple[Verdict, str]:
    """`by`: above zero if it grew."""
    if better is None:
        return Verdict.NOT_COMPARABLE, said.no_direction(reason)
    worse = (by > 0) == (better == "lower")
    return (Verdict.REGRESSED if worse else Verdict.IMPROVED), reason
