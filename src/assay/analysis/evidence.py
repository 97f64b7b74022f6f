"""What two sides of runs and a past say of a change, before it is judged: the caller says what there is, and the
design that can tell most is taken."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, expm1, log1p, sqrt

import numpy as np

from assay.analysis.comparison import Design
from assay.analysis.past import ENOUGH
from assay.analysis.sample import FEWEST
from assay.analysis.verdict import Verdict, changed
from assay.record.metric import Better
from assay.stats.biweight import middle
from assay.stats.intervals import Floats
from assay.stats.nightly import Night, watch
from assay.stats.shift import Shift, at_least, level_shift, paired_shift, unpaired_shift
from assay.stats.slow_runs import SlowRuns, slow_runs
from assay.stats.ticks import tick
from assay.stats.two_modes import two_modes

_SAME_LEVEL = 3.0
"""Standard deviations of the past's levels within which the base is one of them."""


@dataclass(frozen=True)
class Evidence:
    design: Design
    shift: Shift
    notes: tuple[str, ...] = ()
    advice: str = ""
    """What would tell, where this does not."""
    settled: tuple[Verdict, str] | None = None
    """A verdict by another rule than interval, margin and floor: of a night, or of runs that are slow sometimes."""
    slow: SlowRuns | None = None
    """Never equivalent with these, whatever the rest says."""


def evidence(
    base: Floats, head: Floats, past: Floats, *, better: Better | None, margin: float, paired: bool, looks: int = 1
) -> Evidence | None:
    """`base`, `head`: one positive value a run; `past`: logarithms of one level a session before the base, oldest
    first. None where there is too little of everything."""
    logs = np.log(base), np.log(head)
    fewest = min(base.size, head.size)
    if fewest >= FEWEST and paired and base.size == head.size:
        shift = paired_shift(*logs, looks=looks)
        found = Evidence("paired", shift, advice="more pairs would narrow it")
    elif past.size >= ENOUGH and fewest < FEWEST:
        return _night(past, *logs, better=better, margin=margin)
    elif past.size >= ENOUGH:
        found = _level(past, *logs)
    elif fewest >= FEWEST:
        found = Evidence(
            "unpaired", unpaired_shift(*logs),
            advice="how far levels move between sessions is not known yet: `assay ab` tells code from machine",
        )  # fmt: skip
    else:
        return None
    return _described(found, base, head, better)


def _level(past: Floats, base: Floats, head: Floats) -> Evidence:
    """Against all sessions of the level that the base is part of; a base that is not is compared by itself."""
    night = watch(np.append(past, middle(base)))
    told = past[night.since :]
    if told.size < ENOUGH or abs(middle(base) - float(told.mean())) > _SAME_LEVEL * float(told.std(ddof=1)):
        # Neighbours differ by twice the variance of a level, whatever steps there were; a robust spread would take the
        # rarer of two modes for none.
        shift = unpaired_shift(base, head, between=float(np.diff(past).std(ddof=1)) / sqrt(2))
        return Evidence("unpaired", shift, advice="the next sessions tell, or `assay ab` now")
    levels = np.append(told, middle(base))
    note = f"held against the level of {levels.size} earlier sessions"
    return Evidence("history", level_shift(levels, head), (note,), "the next sessions tell, or `assay ab` now")


def _night(past: Floats, base: Floats, head: Floats, *, better: Better | None, margin: float) -> Evidence:
    nights = np.concatenate([past, [middle(base), middle(head)]])
    night = watch(nights)
    away = float(nights[-1]) - night.level
    shift = Shift(away, away - night.reach, away + night.reach, 1.0, night.reach, int(head.size), 0)
    told = nights.size - 1 - night.since
    since = f"the level since {told} sessions ago" if night.since else f"the level of {told} earlier sessions"
    slow, _ = _sometimes(np.exp(base), np.exp(head), better)
    settled = unless_slow(_of_night(night, away, better, margin), slow, margin)
    return Evidence("history", shift, (f"held against {since}",), settled=settled, slow=slow)


def unless_slow(told: tuple[Verdict, str], slow: SlowRuns | None, margin: float) -> tuple[Verdict, str]:
    """Never equivalent where one side has runs far slower than any of the other."""
    if told[0] is Verdict.EQUIVALENT and slow is not None:
        return Verdict.INCONCLUSIVE, f"the typical run is within ±{margin:.1%}, but {slow}"
    return told


def _of_night(night: Night, away: float, better: Better | None, margin: float) -> tuple[Verdict, str]:
    beyond = f"{expm1(away):+.1%}, beyond {expm1(night.reach if away > 0 else -night.reach):+.1%}"
    if night.alarm:
        return changed(away, better, f"{beyond} for the second night or longer")
    if night.side:
        return Verdict.INCONCLUSIVE, f"one night, unconfirmed: {beyond}; the next one tells"
    if night.reach <= log1p(margin):
        return Verdict.EQUIVALENT, f"within ±{margin:.1%}"
    return Verdict.INCONCLUSIVE, f"within what nights differ by here, ±{expm1(night.reach):.1%}"


def _described(found: Evidence, base: Floats, head: Floats, better: Better | None) -> Evidence:
    notes = list(found.notes)
    shift = found.shift
    step = tick(base, head)
    if step:
        shift = at_least(shift, step)
        notes.append(f"values come in steps of {step:.1%}: smaller changes cannot be seen")
    for name, side in (("base", base), ("head", head)):
        if modes := two_modes(side):
            notes.append(f"{name} has two modes: {modes[2]} of {side.size} runs {modes[1] / modes[0] - 1:.1%} larger")
    if shift.spikes:
        notes.append(f"{shift.spikes} pair(s) left out: a run far from all others")
    slow, settled = _sometimes(base, head, better)
    if slow and not settled:
        notes.append(str(slow))
    return Evidence(found.design, shift, tuple(notes), found.advice, settled, slow)


def _sometimes(base: Floats, head: Floats, better: Better | None) -> tuple[SlowRuns | None, tuple[Verdict, str] | None]:
    more, less = slow_runs(base, head), slow_runs(head, base)
    if more and more.certain:
        return more, changed(1.0, better, f"head has {more}")
    if less and less.certain:
        return less, changed(-1.0, better, f"base has {less}")
    return more or less, None


def interval(shift: Shift) -> tuple[float, float] | None:
    return (exp(shift.low), exp(shift.high)) if np.isfinite(shift.low) and np.isfinite(shift.high) else None
