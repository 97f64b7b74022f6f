"""Metrics that are counted, not timed (rows, bytes, ratios of sizes, accuracy, digests): no statistics are needed.

The same code gives the same value, so one run a side is enough, any change is a change, and there is no margin unless
somebody declared one for this very metric. A change that nothing can order (no direction, or text) is `inconclusive`:
that it changed is certain, whether for the worse is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan
from typing import Any

from assay.analysis.judging.sample import Runs
from assay.analysis.sentences import value_sentences as said
from assay.analysis.sentences.metric_words import MetricWords
from assay.analysis.verdict import Verdict
from assay.record.metric import Better, as_float
from assay.record.writing.strict_json import encode

MOST_SHOWN = 80
"""Characters of a value that a reason shows."""


def values(runs: Runs, metric: str) -> list[Any]:
    return [run[metric].value for run in runs if metric in run]


def is_declared_exact(base: Runs, head: Runs, metric: str) -> bool:
    """Whether either side declares it exact. One is enough: an older record may be from before it was declared."""
    return any(run[metric].exact for side in (head, base) for run in side if metric in run)


def varying(found: Sequence[Any]) -> str:
    """What a side says that should be one value, or nothing if it is one."""
    differing = {_key(value): value for value in found}
    return " and ".join(format_fully(value) for value in list(differing.values())[:2]) if len(differing) > 1 else ""


def judge_exact(
    before: Any, after: Any, better: Better | None, margin: float | None, unit: str | None = None
) -> tuple[Verdict, str]:
    if _key(before) == _key(after):
        return Verdict.EQUIVALENT, said.exactly_same(format_fully(before))
    became = f"{format_fully(before)} → {format_fully(after)}"
    if not _is_number(before) or not _is_number(after):
        return Verdict.INCONCLUSIVE, said.change_without_order(became)
    became += f" {unit}" if unit and not isinstance(after, bool) else ""
    first, second = as_float(before), as_float(after)
    if margin is not None and abs(second - first) <= margin * abs(first):
        return Verdict.EQUIVALENT, said.within_margin(became, margin)
    if before == after:
        return Verdict.INCONCLUSIVE, said.neither_larger(became)
    if better is None:
        return Verdict.INCONCLUSIVE, said.change_without_direction(became)
    if isnan(first) or isnan(second):
        lost = isnan(second)
        return (Verdict.REGRESSED, said.number_lost(became)) if lost else (Verdict.IMPROVED, said.number_found(became))
    # Compared as they are, not as floats: beyond 2**53, integers that differ are the same float.
    worse = (after > before) == (better == "lower")
    which_is = MetricWords("other", better).worse_or_better(1.0 if after > before else -1.0)
    return (Verdict.REGRESSED if worse else Verdict.IMPROVED), said.exactly_changed(became, which_is)


def exact_ratio(before: Any, after: Any) -> float | None:
    """None where there is none, or none that a float can hold."""
    if not _is_number(before) or not _is_number(after) or not before:
        return None
    try:
        ratio = after / before
    except OverflowError:
        return None
    return ratio if isfinite(ratio) else None


def format_fully(value: Any) -> str:
    """The value with every digit: two values that differ must not look the same."""
    if isinstance(value, str):
        text = repr(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        whole = isinstance(value, float) and isfinite(value) and value == int(value) and abs(value) < 2**53
        text = str(int(value)) if whole else repr(value)
    else:
        text = encode(value)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN // 2]}…{text[-MOST_SHOWN // 2 :]}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _key(value: Any) -> tuple[str, Any]:
    """What two values are compared by: `1` is not `true`, NaN is NaN, and lists can be compared too."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return ("number", "nan" if value != value else value)
    return ("other", encode(value))
