from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import numpy as np

from assay.analysis.evidence import Evidence, evidence, interval
from assay.analysis.rules import DEFAULT_MARGIN
from assay.analysis.verdict import Verdict, changed, verdict_of
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
    """Of the ratio, 95%."""
    reason: str
    notes: tuple[str, ...] = ()


def judge(
    base: Sequence[float],
    head: Sequence[float],
    paired: bool = False,
    history: Sequence[float] | None = None,
    better: Better = "lower",
    exact: bool = False,
    margin: float = DEFAULT_MARGIN,
) -> Judgement:
    """Anybody's numbers, one a run.

    `paired`: the i-th of both ran side by side, in random order. `history`: one value a session before `base`, oldest
    first; with one run a night `base` is the last night's value and `history` decides. `exact`: what never varies by
    itself (a count, a size, a digest), so that any change is one.
    """
    if better not in ("lower", "higher"):
        raise UsageError(f"better is 'lower' or 'higher', not {better!r}")
    if exact:
        return _exact(base, head, better)
    before, after = (np.asarray(side, dtype=np.float64) for side in (base, head))
    if not before.size or not after.size or not (np.isfinite(before).all() and np.isfinite(after).all()):
        return Judgement(Verdict.NOT_COMPARABLE, None, None, "each side needs at least one finite number")
    past = np.asarray(history if history is not None else (), dtype=np.float64)
    if (before <= 0).any() or (after <= 0).any():
        return _signed(before, after, better, margin, paired)
    found = evidence(before, after, np.log(past[past > 0]), better=better, margin=margin, paired=paired)
    if found is None:
        ratio = middle(after) / middle(before)
        runs = f"{before.size} and {after.size} runs" if before.size + after.size > 2 else "one run on each side"
        return Judgement(Verdict.INCONCLUSIVE, ratio, None, f"{runs}: too few to tell a change from noise")
    verdict, reason = judged(found, better, margin, found.shift.p)
    return Judgement(verdict, exp(found.shift.estimate), interval(found.shift), reason, found.notes)


def judged(found: Evidence | None, better: Better | None, margin: float, p: float) -> tuple[Verdict, str]:
    """`p`: corrected for all rows of a table."""
    assert found is not None
    if found.settled is not None:
        return found.settled
    verdict, reason = verdict_of(found.shift, better, margin, p, found.advice)
    if verdict is Verdict.EQUIVALENT and found.slow is not None:
        return Verdict.INCONCLUSIVE, f"the typical run is within ±{margin:.1%}, but {found.slow}"
    return verdict, reason


def _exact(base: Sequence[object], head: Sequence[object], better: Better) -> Judgement:
    before, after = set(base), set(head)
    if len(before) != 1 or len(after) != 1:
        return Judgement(Verdict.NOT_COMPARABLE, None, None, "not exact: runs of one side differ from each other")
    old, new = base[0], head[0]
    numbers = isinstance(old, int | float) and isinstance(new, int | float)
    ratio = new / old if numbers and old else None  # type: ignore[operator]
    if old == new:
        return Judgement(Verdict.EQUIVALENT, ratio, (1.0, 1.0), f"always {old}")
    if not numbers:
        return Judgement(Verdict.NOT_COMPARABLE, None, None, f"{old} became {new}")
    verdict, reason = changed(1.0 if new > old else -1.0, better, f"{old} became {new}")  # type: ignore[operator]
    return Judgement(verdict, ratio, None if ratio is None else (ratio, ratio), reason)


def _signed(before: np.ndarray, after: np.ndarray, better: Better, margin: float, paired: bool) -> Judgement:
    from assay.analysis.signed_values import signed_verdict

    verdict, reason = signed_verdict(before, after, better, margin, paired)
    return Judgement(verdict, None, None, reason)
