"""What two sides of runs and a past say of a change, before it is judged: the caller says what there is, and the
design that can tell most is taken."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log1p, sqrt

import numpy as np

from assay.analysis.comparing.comparison import Design
from assay.analysis.comparing.past import ENOUGH
from assay.analysis.judging.sample import FEWEST
from assay.analysis.sentences import note_sentences as noted
from assay.analysis.sentences import verdict_sentences as said
from assay.analysis.sentences.metric_words import MetricWords
from assay.analysis.sentences.side_names import A_AND_B, SideNames
from assay.analysis.verdict import Verdict, judge_change
from assay.record.metric import Better
from assay.stats.biweight import middle
from assay.stats.changes.nightly import Night, watch
from assay.stats.intervals import Floats
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
    slow: str = ""
    """Runs far slower than any of the other side, in words. Never equivalent with these, whatever the rest says."""


def evidence(
    base: Floats,
    head: Floats,
    past: Floats,
    *,
    better: Better | None,
    margin: float,
    paired: bool,
    looks: int = 1,
    words: MetricWords | None = None,
    sides: SideNames = A_AND_B,
) -> Evidence | None:
    """`base`, `head`: one positive value a run; `past`: logarithms of one level a session before the base, oldest
    first. `words`, `sides`: what a change of this metric and the two sides are called. None where there is too little
    of everything."""
    logs = np.log(base), np.log(head)
    fewest = min(base.size, head.size)
    if fewest >= FEWEST and paired and base.size == head.size:
        shift = paired_shift(*logs, looks=looks)
        found = Evidence("paired", shift, advice=said.more_pairs(base.size))
    elif past.size >= ENOUGH and fewest < FEWEST:
        return _night(past, *logs, words=words or MetricWords.of("", None, better), margin=margin, sides=sides)
    elif past.size >= ENOUGH:
        found = _level(past, *logs)
    elif fewest >= FEWEST:
        # How far levels move between sessions is not known yet: more of such runs would not tell code from machine.
        found = Evidence("unpaired", unpaired_shift(*logs), advice=said.IN_TURN)
    else:
        return None
    return _describe(found, base, head, better, sides)


def _level(past: Floats, base: Floats, head: Floats) -> Evidence:
    """Compares with all sessions of the level that the base is part of; a base outside it is compared by itself."""
    night = watch(np.append(past, middle(base)))
    told = past[night.since :]
    if told.size < ENOUGH or abs(middle(base) - float(told.mean())) > _SAME_LEVEL * float(told.std(ddof=1)):
        # Neighbours differ by twice the variance of a level, whatever steps there were; a robust spread would take the
        # rarer of two modes for none.
        shift = unpaired_shift(base, head, between=float(np.diff(past).std(ddof=1)) / sqrt(2))
        return Evidence("unpaired", shift, advice=said.NEXT_SESSIONS)
    levels = np.append(told, middle(base))
    note = noted.sessions_compared(levels.size)
    return Evidence("history", level_shift(levels, head), (note,), said.NEXT_SESSIONS)


def _night(
    past: Floats, base: Floats, head: Floats, *, words: MetricWords, margin: float, sides: SideNames
) -> Evidence:
    nights = np.concatenate([past, [middle(base), middle(head)]])
    night = watch(nights)
    away = float(nights[-1]) - night.level
    shift = Shift(away, away - night.reach, away + night.reach, 1.0, night.reach, int(head.size), 0)
    note = noted.sessions_compared(nights.size - 1 - night.since, since_a_change=bool(night.since))
    slow, _ = _sometimes(np.exp(base), np.exp(head), words.better, sides)
    settled = unless_slow(_of_night(night, away, words, margin), slow, margin)
    return Evidence("history", shift, (note,), settled=settled, slow=slow)


def unless_slow(told: tuple[Verdict, str], slow: str, margin: float) -> tuple[Verdict, str]:
    """The verdict, which is never `equivalent` where one side has runs far slower than any of the other."""
    if told[0] is Verdict.EQUIVALENT and slow:
        return Verdict.INCONCLUSIVE, said.typical_unchanged(margin, slow)
    return told


def _of_night(night: Night, away: float, words: MetricWords, margin: float) -> tuple[Verdict, str]:
    if night.alarm:
        return judge_change(away, words.better, said.lasting_change(words, away, night.reach))
    if night.side:
        return Verdict.INCONCLUSIVE, said.first_change(words, away, night.reach)
    if night.reach <= log1p(margin):
        return Verdict.EQUIVALENT, said.no_change(margin)
    return Verdict.INCONCLUSIVE, said.as_sessions_differ(words, away, night.reach)


def _describe(found: Evidence, base: Floats, head: Floats, better: Better | None, sides: SideNames) -> Evidence:
    notes = list(found.notes)
    shift = found.shift
    step = tick(base, head)
    if step:
        shift = at_least(shift, step)
        notes.append(noted.steps(step))
    for where, side in ((sides.base, base), (sides.head, head)):
        if modes := two_modes(side):
            notes.append(noted.two_groups(where, modes[2], side.size, modes[1] / modes[0] - 1))
    if shift.spikes:
        notes.append(noted.pairs_left_out(shift.spikes))
    slow, settled = _sometimes(base, head, better, sides)
    if slow and not settled:
        notes.append(slow)
    return Evidence(found.design, shift, tuple(notes), found.advice, settled, slow)


def _sometimes(
    base: Floats, head: Floats, better: Better | None, sides: SideNames
) -> tuple[str, tuple[Verdict, str] | None]:
    """Runs that are far slower than the other side's, in words; with a verdict where there are many."""
    more, less = slow_runs(base, head), slow_runs(head, base)
    in_head = _slow_words(more, sides.head, sides.base)
    in_base = _slow_words(less, sides.base, sides.head)
    if more and more.certain:
        return in_head, judge_change(1.0, better, in_head)
    if less and less.certain:
        return in_base, judge_change(-1.0, better, in_base)
    return in_head or in_base, None


def _slow_words(slow: SlowRuns | None, where: str, other: str) -> str:
    return said.sometimes_slow(slow.count, slow.of, slow.times, where, other) if slow else ""


def interval(shift: Shift) -> tuple[float, float] | None:
    return (exp(shift.low), exp(shift.high)) if np.isfinite(shift.low) and np.isfinite(shift.high) else None
