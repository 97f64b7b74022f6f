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
    first, second = _ordered(before), _ordered(after)
    if first is None or second is None:
        return Verdict.INCONCLUSIVE, f"changed: {became}; of text nothing says which is better"
    if margin is not None and abs(second - first) <= margin * abs(first):
        return Verdict.EQUIVALENT, f"{became}, within ±{margin:.1%}"
    if better is None:
        return (
            Verdict.INCONCLUSIVE,
            f"changed: {became}; nothing says which way is better: declare better: higher or better: lower for it",
        )
    if isnan(first) or isnan(second):
        return (Verdict.REGRESSED if isnan(second) else Verdict.IMPROVED), became
    worse = (second > first) == (better == "lower")
    return (Verdict.REGRESSED if worse else Verdict.IMPROVED), f"{became}; it is exact, so any change counts"


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


def _ordered(value: Any) -> float | None:
    return as_float(value) if isinstance(value, int | float) else None


def _key(value: Any) -> tuple[str, Any]:
    """`1` is not `true`, NaN is NaN, and lists can be compared too."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return ("number", "nan" if isnan(value) else value)
    return ("other", encode(value))
