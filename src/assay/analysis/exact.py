"""Metrics that are counted, not timed (rows, bytes, ratios of sizes, accuracy, digests): no statistics are needed.

The same code gives the same value, so one run a side is enough, any change is a change, and there is no margin unless
somebody declared one for this very metric. A change that nothing can order (no direction, or text) is `inconclusive`:
that it changed is certain, whether for the worse is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan
from typing import Any

from assay.analysis.sample import Runs
from assay.analysis.verdict import Verdict
from assay.record.metric import Better, as_float
from assay.record.strict_json import encode

MOST_SHOWN = 80
"""Characters of a value that a reason shows."""


def values(runs: Runs, metric: str) -> list[Any]:
    return [run[metric].value for run in runs if metric in run]


def declared_exact(base: Runs, head: Runs, metric: str) -> bool:
    """By one side is enough: an older record may be of before it was declared."""
    return any(run[metric].exact for side in (head, base) for run in side if metric in run)


def varying(found: Sequence[Any]) -> str:
    """What a side says that should be one value, or nothing if it is one."""
    differing = {_key(value): value for value in found}
    return " and ".join(shown(value) for value in list(differing.values())[:2]) if len(differing) > 1 else ""


def judge_exact(before: Any, after: Any, better: Better | None, margin: float | None) -> tuple[Verdict, str]:
    if _key(before) == _key(after):
        return Verdict.EQUIVALENT, f"exactly {shown(before)} on both sides"
    became = f"{shown(before)} became {shown(after)}"
    if not _is_number(before) or not _is_number(after):
        what = "text" if isinstance(before, str) and isinstance(after, str) else "these values"
        return Verdict.INCONCLUSIVE, f"changed: {became}; of {what} nothing says which is better"
    first, second = as_float(before), as_float(after)
    if margin is not None and abs(second - first) <= margin * abs(first):
        return Verdict.EQUIVALENT, f"{became}, within ±{margin:.1%}"
    if before == after:
        return Verdict.INCONCLUSIVE, f"changed: {became}; neither is the larger"
    if better is None:
        return (
            Verdict.INCONCLUSIVE,
            f"changed: {became}; nothing says which way is better: declare better: higher or better: lower for it",
        )
    if isnan(first) or isnan(second):
        return (Verdict.REGRESSED if isnan(second) else Verdict.IMPROVED), became
    # As they are, not as floats: beyond 2**53 integers that differ are one float.
    worse = (after > before) == (better == "lower")
    return (Verdict.REGRESSED if worse else Verdict.IMPROVED), f"{became}; it is exact, so any change counts"


def exact_ratio(before: Any, after: Any) -> float | None:
    """None where there is none, or none that a float can hold."""
    if not _is_number(before) or not _is_number(after) or not before:
        return None
    try:
        ratio = after / before
    except OverflowError:
        return None
    return ratio if isfinite(ratio) else None


def shown(value: Any) -> str:
    """With every digit: two values that differ must not look the same."""
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
    """`1` is not `true`, NaN is NaN, and lists can be compared too."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return ("number", "nan" if value != value else value)
    return ("other", encode(value))
