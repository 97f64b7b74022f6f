"""One run a night of what has no ratio: counts with zeros, throughput that is gone, negative scores.

The watch over nights (`stats.nightly`) is kept on the values themselves instead of their logarithms, in units of what
the nights before were on average.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.analysis.past import ENOUGH
from assay.analysis.sample import FEWEST
from assay.analysis.verdict import Verdict, changed
from assay.record.metric import Better
from assay.stats.biweight import middle
from assay.stats.intervals import Floats
from assay.stats.nightly import watch


@dataclass(frozen=True)
class SignedNight:
    verdict: Verdict
    reason: str
    level: float
    """Of the nights that tonight is held against."""
    ratio: float | None
    """Tonight over the level; None where that is not above zero, or tonight below it."""
    notes: tuple[str, ...]


def is_signed_night(past: Floats, base: Floats, head: Floats) -> bool:
    """Fewer runs than a verdict needs, enough nights before them, and something among them that has no logarithm."""
    few = min(base.size, head.size) < FEWEST
    return few and past.size >= ENOUGH and bool(min(past.min(), base.min(), head.min()) <= 0)


def signed_night(past: Floats, base: Floats, head: Floats, better: Better | None, margin: float) -> SignedNight:
    """`past`: one value a session before the base, oldest first."""
    values = np.concatenate([past, [middle(base), middle(head)]])
    scale = float(np.abs(past).mean()) or float(np.abs(values).max()) or 1.0
    night = watch(values / scale)
    tonight, level, reach = float(values[-1]), night.level * scale, night.reach * scale
    became = f"{level:g} became {tonight:g}"
    if night.alarm:
        verdict, reason = changed(tonight - level, better, f"{became} for the second night or longer")
    elif night.side:
        verdict, reason = Verdict.INCONCLUSIVE, f"one night, unconfirmed: {became}; the next one tells"
    elif np.ptp(head) > reach:
        verdict, reason = Verdict.INCONCLUSIVE, f"tonight's runs differ: {head.min():g} to {head.max():g}"
    elif tonight == level and not np.ptp(values[night.since :]):
        verdict, reason = Verdict.EQUIVALENT, f"{tonight:g} as in every session of its level"
    elif reach <= margin * abs(level):
        verdict, reason = Verdict.EQUIVALENT, f"within ±{margin:.1%}"
    else:
        verdict, reason = Verdict.INCONCLUSIVE, f"{became}, within what nights differ by here, ±{reach:.3g}"
    told = values.size - 1 - night.since
    since = f"the level since {told} sessions ago" if night.since else f"the level of {told} earlier sessions"
    ratio = tonight / level if level > 0 and tonight >= 0 else None
    return SignedNight(verdict, reason, level, ratio, (f"held against {since}",))
