from __future__ import annotations

from enum import StrEnum
from math import expm1, log1p

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
    shift: Shift, better: Better | None, margin: float, adjusted_p: float, advice: str = "more runs would tell"
) -> tuple[Verdict, str]:
    """The rule, and in words what it rested on; `advice` is what would tell where this does not.

    Changed: the interval excludes 1, the median is beyond the margin and beyond what chance alone would show, and it
    survives the correction for all rows of the table. Equivalent: the interval lies inside the margin.
    """
    reach = log1p(margin)
    if -reach <= shift.low and shift.high <= reach:
        return Verdict.EQUIVALENT, f"within ±{margin:.1%}"
    excludes = shift.low > 0 or shift.high < 0
    beyond = abs(shift.estimate) > reach
    by_chance = abs(shift.estimate) <= shift.floor
    if excludes and beyond and not by_chance:
        if shift.p > RATE:
            return Verdict.INCONCLUSIVE, f"chance could bring it (p is {shift.p:.2g}); {advice}"
        if adjusted_p > RATE:
            return (
                Verdict.INCONCLUSIVE,
                f"p is {adjusted_p:.2g} when all rows are counted; run it again alone",
            )
        return _changed(shift, better, margin)
    if not excludes:
        return Verdict.INCONCLUSIVE, f"the interval holds both no change and one beyond the margin; {advice}"
    if by_chance and beyond:
        return (
            Verdict.INCONCLUSIVE,
            f"identical code could differ by {_bound(shift.floor, shift)} with this noise; {advice}",
        )
    return Verdict.INCONCLUSIVE, f"changed, but about as much as the margin of {margin:.1%}"


def _changed(shift: Shift, better: Better | None, margin: float) -> tuple[Verdict, str]:
    change = f"{expm1(shift.estimate):+.1%}, beyond {_bound(max(log1p(margin), shift.floor), shift)}"
    return changed(shift.estimate, better, change)


def changed(by: float, better: Better | None, reason: str) -> tuple[Verdict, str]:
    """`by`: above zero if it grew."""
    if better is None:
        return (
            Verdict.NOT_COMPARABLE,
            f"{reason}, but nothing says which way is better: declare better: higher or better: lower for it",
        )
    worse = (by > 0) == (better == "lower")
    return (Verdict.REGRESSED if worse else Verdict.IMPROVED), reason


def _bound(size: float, shift: Shift) -> str:
    """A logarithm as a change in the direction of the shift: as far as +100% is −50%."""
    return f"{expm1(size if shift.estimate > 0 else -size):.1%}"
