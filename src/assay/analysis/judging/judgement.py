from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf
from typing import Any

import numpy as np

from assay.analysis.changes.signed_night import is_signed_night, judge_signed_night
from assay.analysis.changes.signed_values import judge_signed
from assay.analysis.judging.evidence import Evidence, evidence, interval, unless_slow
from assay.analysis.judging.exact import exact_ratio, judge_exact, varying
from assay.analysis.plain_values import first_not_finite, plain_numbers, plain_values
from assay.analysis.rules import DEFAULT_MARGIN
from assay.analysis.sentences.metric_words import MetricWords
from assay.analysis.sentences.side_names import BASE_AND_HEAD
from assay.analysis.sentences.value_sentences import not_exact_values
from assay.analysis.sentences.verdict_sentences import few_values
from assay.analysis.verdict import Verdict, verdict_of
from assay.errors import UsageError
from assay.record.metric import Better
from assay.stats.biweight import middle


@dataclass(frozen=True)
class Judgement:
    """Whether two sides of numbers differ, and why that is said."""

    verdict: Verdict
    ratio: float | None
    """Head over base, or over the level of the history that decided; None where there is none."""
    interval: tuple[float, float] | None
    """95% interval of the ratio."""
    reason: str
    notes: tuple[str, ...] = ()


def judge(
    base: Sequence[Any],
    head: Sequence[Any],
    paired: bool = False,
    history: Sequence[float] | None = None,
    better: Better = "lower",
    exact: bool = False,
    margin: float = DEFAULT_MARGIN,
) -> Judgement:
    """Anybody's numbers, one a run; one number alone is one run.

    `paired`: the i-th of both ran side by side, in random order. `history`: one value a session before `base`, oldest
    first; with one run a night `base` is the last night's value and `history` decides. `exact`: what never varies by
    itself (a count, a size, a digest), so that any change is one.
    """
    if better not in ("lower", "higher"):
        raise UsageError(f"better is 'lower' or 'higher', not {better!r}")
    if not isinstance(margin, int | float) or not 0 <= margin < inf:
        raise UsageError(f"margin is a share such as 0.03, not {margin!r}")
    if exact:
        return _exact(plain_values(base, "base"), plain_values(head, "head"), better)
    before, after = (np.array(plain_numbers(side, name)) for side, name in ((base, "base"), (head, "head")))
    past = np.array(plain_numbers(history if history is not None else (), "history"))
    past = past[np.isfinite(past)]
    if not before.size or not after.size:
        return Judgement(Verdict.NOT_COMPARABLE, None, None, f"{'head' if before.size else 'base'} has no value")
    if missing := first_not_finite(before, "base") or first_not_finite(after, "head"):
        return Judgement(Verdict.NOT_COMPARABLE, None, None, f"{missing}: each run needs a finite number")
    if paired and before.size != after.size:
        raise UsageError(f"paired, but base has {before.size} runs and head {after.size}: give as many of each")
    if is_signed_night(past, before, after):
        night = judge_signed_night(past, before, after, MetricWords.of("", None, better), margin)
        return Judgement(night.verdict, night.ratio, None, night.reason, night.notes)
    if (before <= 0).any() or (after <= 0).any():
        return Judgement(*_judge_signed(before, after, better, margin, paired))
    found = evidence(
        before, after, np.log(past[past > 0]), better=better, margin=margin, paired=paired, sides=BASE_AND_HEAD
    )
    if found is None:
        ratio = middle(after) / middle(before)
        return Judgement(Verdict.INCONCLUSIVE, ratio, None, few_values(before.size, after.size))
    verdict, reason = judge_evidence(found, better, margin, found.shift.p)
    return Judgement(verdict, exp(found.shift.estimate), interval(found.shift), reason, found.notes)


def judge_evidence(
    found: Evidence | None, better: Better | None, margin: float, p: float, words: MetricWords | None = None
) -> tuple[Verdict, str]:
    """`p`: corrected for all rows of a table."""
    assert found is not None
    if found.settled is not None:
        return found.settled
    return unless_slow(verdict_of(found.shift, better, margin, p, found.advice, words), found.slow, margin)


def _exact(base: Sequence[Any], head: Sequence[Any], better: Better) -> Judgement:
    """Judges exact values by the rule that compared records follow."""
    for name, side in (("base", base), ("head", head)):
        if not side:
            return Judgement(Verdict.NOT_COMPARABLE, None, None, f"{name} has no value")
        if seen := varying(side):
            return Judgement(Verdict.NOT_COMPARABLE, None, None, not_exact_values(f"in {name}", seen))
    verdict, reason = judge_exact(base[0], head[0], better, None)
    ratio = exact_ratio(base[0], head[0])
    return Judgement(verdict, ratio, None if ratio is None else (ratio, ratio), reason)


def _judge_signed(
    before: np.ndarray, after: np.ndarray, better: Better, margin: float, paired: bool
) -> tuple[Verdict, None, None, str]:
    verdict, reason = judge_signed(before, after, MetricWords.of("", None, better), margin, paired)
    return verdict, None, None, reason
