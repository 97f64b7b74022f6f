"""What two sides of runs and a past say of a change, before it is judged: the caller says what there is, and the
design that can tell most is taken."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, isfinite, log, log1p, sqrt
from statistics import median
from typing import Protocol

import numpy as np

from assay.analysis.comparison import Design, Verdict, judge_change
from assay.analysis.conditions import LoadEffect, disturbances
from assay.analysis.sentences import note_sentences as noted
from assay.analysis.sentences import verdict_sentences as said
from assay.analysis.sentences.metric_words import A_AND_B, MetricWords, SideNames
from assay.history import History
from assay.record import Metric, Record
from assay.record.metric import Better
from assay.stats.intervals import Floats, Interval, quantile_interval
from assay.stats.nightly import Night, watch
from assay.stats.robust import SlowRuns, find_outliers, middle, slow_runs, tick, two_modes
from assay.stats.shift import Shift, at_least, level_shift, paired_shift, unpaired_shift

NOTABLE = 0.03
"""Share of the median below which a run that stands apart is not worth a word."""


@dataclass(frozen=True)
class OutlyingRun:
    """A run whose time stands apart from the others of its entry."""

    run: Record
    ratio: float
    """Its time over the median of all."""
    reasons: tuple[str, ...] = ()
    """What was different about it, as far as that was recorded: likely causes, none of them proven."""


def outlying_runs(runs: Sequence[Record]) -> tuple[OutlyingRun, ...]:
    """Runs that stand apart, in the order they ran. What every run had to bear explains none of them."""
    typical = median(run.exec_time_s for run in runs) if runs else 0.0
    if typical <= 0:
        return ()
    found = [runs[outlier.index] for outlier in find_outliers([run.exec_time_s for run in runs])]
    apart = [run for run in found if abs(run.exec_time_s / typical - 1) >= NOTABLE]
    others = [run for run in runs if run not in found]
    return tuple(OutlyingRun(run, run.exec_time_s / typical, _reasons(run, runs[0], others)) for run in apart)


def _reasons(run: Record, first: Record, others: Sequence[Record]) -> tuple[str, ...]:
    if run.exec_time_s <= median(other.exec_time_s for other in others):
        return ()
    if 2 * sum(bool(disturbances(other)) for other in others) < len(others):
        known = tuple(disturbances(run))
        if known:
            return known
    return ("it was the first: `--warmup 1` leaves such a run out",) if run is first else ()


def median_interval(values: Sequence[float], confidence: float = 0.95) -> Interval | None:
    """Interval of the median, from the ranks of the values; None where they are too few for one (fewer than six)."""
    interval = quantile_interval(list(values), 0.5, confidence=confidence)
    return interval if math.isfinite(interval.low) and math.isfinite(interval.high) else None


FEWEST = 4
"""Runs on each side that a verdict needs. `repeat: 6`, which is advised, leaves room for two that failed."""
FEWEST_PAIRS = 6
"""Five pairs cannot reach p = .05 by signs alone, whatever they show."""


def fewest(paired: bool) -> int:
    return FEWEST_PAIRS if paired else FEWEST


@dataclass(frozen=True)
class Sample:
    """One metric of one side, one value a run. What a program measured repeatedly within a run describes that run only:
    runs of the same code differ by more than that, so no verdict rests on it."""

    values: Floats
    unit: str | None = None
    better: Better | None = None
    within: int = 0
    """Measurements within the runs, all together."""

    @property
    def middle(self) -> float:
        return middle(self.values)


Runs = Sequence[Mapping[str, Metric]]
"""The metrics of each run of one side."""


def sample(runs: Runs, metric: str) -> Sample | None:
    """None without any number."""
    found = [run[metric] for run in runs if metric in run]
    values = [item.number for item in found if item.number is not None and math.isfinite(item.number)]
    if not values:
        return None
    within = sum(len(item.samples) for item in found)
    return Sample(np.array(values, dtype=np.float64), found[-1].unit, found[-1].better, within)


# What earlier sessions say about a series: how much its level moves when nothing changes.

ENOUGH = 10
"""Sessions before their movement is believed."""
_LOOK_BACK = 1000
_RUNS = 60
"""Runs that say under which load a level was measured."""


class Past(Protocol):
    def levels(self, entry: str, fingerprint: str, metric: str) -> Floats:
        """The logarithm of one value a session, oldest first; empty if unknown."""
        ...

    def values(self, entry: str, fingerprint: str, metric: str) -> Floats:
        """The values themselves, one a session, oldest first; those too that have no logarithm."""
        ...

    def runs(self, fingerprint: str) -> Sequence[Record]:
        """The newest runs, for the load that the machine had."""
        ...


class NoPast:
    def levels(self, entry: str, fingerprint: str, metric: str) -> Floats:
        return np.empty(0)

    def values(self, entry: str, fingerprint: str, metric: str) -> Floats:
        return np.empty(0)

    def runs(self, fingerprint: str) -> Sequence[Record]:
        return ()


class HistoryPast:
    """Reads a series only when a comparison needs it, and once."""

    def __init__(self, history: History, before: str) -> None:
        self._history = history
        self._before = before
        self._known: dict[tuple[str, str], list[list[float]]] = {}
        self._records: dict[str, list[Record]] = {}

    def levels(self, entry: str, fingerprint: str, metric: str) -> Floats:
        levels = ([log(value) for value in values if value > 0] for values in self._runs(fingerprint, metric))
        return np.array([_middle(level) for level in levels if level], dtype=np.float64)

    def values(self, entry: str, fingerprint: str, metric: str) -> Floats:
        return np.array([_middle(values) for values in self._runs(fingerprint, metric)], dtype=np.float64)

    def runs(self, fingerprint: str) -> Sequence[Record]:
        if fingerprint not in self._records:
            self._records[fingerprint] = self._history.newest_runs(fingerprint, self._before, _RUNS)
        return self._records[fingerprint]

    def _runs(self, fingerprint: str, metric: str) -> list[list[float]]:
        key = fingerprint, metric
        if key not in self._known:
            self._known[key] = self._read(fingerprint, metric)
        return self._known[key]

    def _read(self, fingerprint: str, metric: str) -> list[list[float]]:
        """The finite values of each session, oldest session first."""
        series_id = self._history.series_id(fingerprint, metric)
        if series_id is None:
            return []
        by_session = self._history.values_by_session(series_id, before=self._before, limit=_LOOK_BACK)
        finite = ([value for value in values if isfinite(value)] for values in by_session)
        return [values for values in finite if values]


def _middle(values: list[float]) -> float:
    """Middle of a session's values. One value is its own: most sessions have one run, and a comparison reads a thousand
    sessions for each of its metrics."""
    return values[0] if len(values) == 1 else median(values)


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
    slow_by: float = 0.0
    """How much slower those are, as a logarithm; below zero where they are the base's."""
    load: LoadEffect | None = None
    """What a difference in outside load can explain of it."""

    @property
    def changed(self) -> bool:
        """Whether a verdict may come of it that something changed."""
        return self.settled is not None or self.shift.low > 0 or self.shift.high < 0

    def without_load(self) -> Evidence:
        """The same if load alone did all that it can."""
        if self.load is None:
            return self
        by, shift = self.load.by, self.shift
        moved = replace(shift, estimate=shift.estimate - by, low=shift.low - by, high=shift.high - by)
        return replace(self, shift=moved, load=None)

    def settled_by_load(self, verdict: Verdict) -> bool:
        """Whether a settled verdict may rest on the load alone."""
        if self.load is None:
            return False
        if self.settled is not None and self.settled[1] == self.slow:
            return _reaches(self.load.slow_by, self.slow_by)
        away = self.shift.estimate
        if verdict is Verdict.EQUIVALENT:
            return abs(away - self.load.by) > self.shift.floor
        return _reaches(self.load.by, away, self.shift.floor)

    @property
    def with_interval(self) -> Shift:
        """The shift with an interval that is as wide as the load can explain."""
        quiet = self.without_load().shift
        return replace(self.shift, low=min(self.shift.low, quiet.low), high=max(self.shift.high, quiet.high))


def _reaches(load: float, change: float, noise: float = 0.0) -> bool:
    """Whether the load makes such a change but for noise."""
    return load * change > 0 and abs(load) >= abs(change) - noise


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
    runs = min(base.size, head.size)
    if runs < fewest(paired) and (paired or past.size < ENOUGH):
        return None
    if paired and base.size == head.size:
        shift = paired_shift(*logs, looks=looks)
        found = Evidence("paired", shift, advice=said.more_pairs(base.size))
    elif past.size >= ENOUGH and runs < FEWEST:
        return _night(past, *logs, words=words or MetricWords.of("", None, better), margin=margin, sides=sides)
    elif past.size >= ENOUGH:
        found = _level(past, *logs)
    else:
        # How far levels move between sessions is not known yet: more of such runs would not tell code from machine.
        found = Evidence("unpaired", unpaired_shift(*logs), advice=said.IN_TURN)
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
    slow, _, slow_by = _sometimes(np.exp(base), np.exp(head), words.better, sides)
    settled = unless_slow(_of_night(night, away, words, margin), slow, margin)
    return Evidence("history", shift, (note,), settled=settled, slow=slow, slow_by=slow_by)


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
    slow, settled, slow_by = _sometimes(base, head, better, sides)
    if slow and not settled:
        notes.append(slow)
    return Evidence(found.design, shift, tuple(notes), found.advice, settled, slow, slow_by)


def _sometimes(
    base: Floats, head: Floats, better: Better | None, sides: SideNames
) -> tuple[str, tuple[Verdict, str] | None, float]:
    """Runs that are far slower than the other side's, in words; with a verdict where there are many, and how much
    slower."""
    more, less = slow_runs(base, head), slow_runs(head, base)
    in_head = _slow_words(more, sides.head, sides.base)
    in_base = _slow_words(less, sides.base, sides.head)
    if more and more.certain:
        return in_head, judge_change(1.0, better, in_head), log(more.times)
    if less and less.certain:
        return in_base, judge_change(-1.0, better, in_base), -log(less.times)
    return in_head or in_base, None, 0.0


def _slow_words(slow: SlowRuns | None, where: str, other: str) -> str:
    return said.sometimes_slow(slow.count, slow.of, slow.times, where, other) if slow else ""


def interval(shift: Shift) -> tuple[float, float] | None:
    return (exp(shift.low), exp(shift.high)) if np.isfinite(shift.low) and np.isfinite(shift.high) else None
