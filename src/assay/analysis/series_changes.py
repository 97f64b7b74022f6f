"""Change points of anybody's numbers: plain sequences in."""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from statistics import median
from typing import Any

from assay.analysis.compare_records import compare, identity_differences
from assay.analysis.comparison import MEASURED, Comparison, Verdict
from assay.analysis.conditions import with_surroundings
from assay.analysis.evidence import HistoryPast
from assay.analysis.gate import last_that_passed
from assay.analysis.read_results import plain_numbers
from assay.analysis.rules import Rules, direction, load_floors, margins
from assay.analysis.sentences.metric_words import BEFORE_AND_NOW
from assay.analysis.sentences.value_sentences import new_series
from assay.errors import DataError, UsageError
from assay.history import History, Point, Series
from assay.record import Record
from assay.record.metric import Better
from assay.record.task import is_task_metric
from assay.stats.changes import FEWEST, LevelChange, find_changes

_COMMIT = re.compile(r"[0-9a-f]{7,40}")


def commits_between(old: str | None, new: str | None, repository: Path | None = None, most: int = 50) -> list[str]:
    """`<hash> <subject>` of each commit after `old` up to `new`, newest first; empty where git does not know them."""
    if not (old and new and _COMMIT.fullmatch(old) and _COMMIT.fullmatch(new)):
        return []
    try:
        asked = subprocess.run(
            ["git", "log", "--no-color", f"--max-count={most}", "--format=%h %s", f"{old}..{new}", "--"],
            cwd=repository, capture_output=True, text=True, errors="replace", timeout=10, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return []
    return asked.stdout.splitlines() if asked.returncode == 0 else []


_DIRECTIONS = (None, "higher", "lower")


@dataclass(frozen=True)
class SeriesChange:
    """Indices are those of the values as they were given."""

    index: int
    """The first value at the new level, if it has to be one."""
    earliest: int
    """The first value at the new level lies from here to `latest`, both included, in 95 of 100 changes."""
    latest: int
    before: float
    after: float
    ratio: float | None
    """after ÷ before; None where `before` is 0."""
    better: Better | None = None
    time: Any = None
    """The time given for `index`; None where no times were given."""

    @property
    def verdict(self) -> Verdict | None:
        """None where nothing says which way is better."""
        return worse_or_better(self.before, self.after, self.better)


def worse_or_better(before: float, after: float, better: Better | None) -> Verdict | None:
    if better is None:
        return None
    return Verdict.REGRESSED if (after > before) == (better == "lower") else Verdict.IMPROVED


def change_points(
    values: Sequence[float | None], times: Sequence[Any] | None = None, better: Better | None = None
) -> list[SeriesChange]:
    """Where the level changed, oldest first; `values` in the order they were measured, one a night or session.

    Missing values (None, NaN, infinite) are passed over. Zeros and negative values are data. Three values at a new
    level can be enough; one or two are a spike until there is a third. `times` must not go back; they are handed
    through.
    """
    if better not in _DIRECTIONS:
        raise UsageError(f"better should be 'higher', 'lower' or None, is {better!r}")
    numbers = plain_numbers(values, "values")
    when = None if times is None else _check_times(times, len(numbers))
    there = [i for i, value in enumerate(numbers) if isfinite(value)]
    return [
        SeriesChange(
            there[change.index], there[change.earliest], there[change.latest], change.before, change.after,
            change.ratio, better, None if when is None else when[there[change.index]],
        )
        for change in find_changes([numbers[i] for i in there])
    ]  # fmt: skip


def _check_times(times: Sequence[Any], count: int) -> list[Any]:
    if isinstance(times, str) or not isinstance(times, Iterable):
        raise UsageError(f"times is {times!r}: give one time a value")
    when = list(times)
    if len(when) != count:
        raise UsageError(f"{len(when)} times for {count} values; give one time a value")
    for at in range(1, count):
        try:
            back = bool(when[at] < when[at - 1])
        except TypeError as error:
            raise UsageError(f"times[{at - 1}] and times[{at}] cannot be ordered ({error}); give one kind") from None
        if back:
            raise UsageError(f"times[{at}] is before times[{at - 1}]; sort values and times by time")
    return when


TOGETHER = 2
"""Sessions that two steps may lie apart and still be one event: noise moves a step's place by that much."""


@dataclass(frozen=True)
class ChangePoint:
    """A series changed its level."""

    entry: str
    metric: str
    fingerprint: str
    unit: str | None
    better: Better | None
    session: str
    """Session that is most likely the first at the new level; `at` is when it began."""
    at: str
    ratio: float | None
    """None where `before` is 0."""
    before: float
    after: float
    index: int
    """Place of `session` among the sessions of the series, from 0, oldest first."""
    earliest: str
    """The first session at the new level is one from here to `latest`, both included, in 95 of 100 changes."""
    latest: str
    possible: int
    """Number of sessions of the series from `earliest` to `latest`."""
    commit_before: str | None
    """Commit of the session before `earliest`, or the newest known before that."""
    commit_after: str | None
    """Commit of `latest`. The cause, if it was a commit, is after `commit_before` and not after this one."""
    commits: tuple[str, ...]
    """The commits measured from `earliest` to `latest`, oldest first, each once."""

    @property
    def verdict(self) -> Verdict | None:
        """None where nothing says which way is better."""
        return worse_or_better(self.before, self.after, self.better)

    @property
    def size(self) -> float:
        """How far the level moved, for sorting: |ln ratio|; infinite to or from zero and between signs."""
        return abs(math.log(self.ratio)) if self.ratio and self.ratio > 0 else math.inf


@dataclass(frozen=True)
class Event:
    """Change points of several metrics and entries that moved together; most likely one cause."""

    at: str
    session: str
    points: tuple[ChangePoint, ...]

    @property
    def commits(self) -> tuple[str | None, str | None]:
        """The commits around the change whose place is known best. If one commit is the cause, it lies between them."""
        known = [point for point in self.points if point.commit_before and point.commit_after]
        best = min(known or self.points, key=lambda point: point.possible)
        return best.commit_before, best.commit_after

    @property
    def regressed(self) -> tuple[ChangePoint, ...]:
        return tuple(point for point in self.points if point.verdict is Verdict.REGRESSED)


@dataclass(frozen=True)
class Level:
    """A series' value in one session."""

    session: str
    at: str
    value: float
    commit: str | None


def levels(points: Iterable[Point]) -> list[Level]:
    """One a session, oldest first; NaN and infinite values are left out."""
    by_session: dict[str, list[Point]] = {}
    for point in points:
        if math.isfinite(point.value):
            by_session.setdefault(point.session, []).append(point)
    return [
        Level(session, runs[0].started_at, median(run.value for run in runs), runs[0].git_commit)
        for session, runs in by_session.items()
    ]


def series_changes(series: Series, points: Iterable[Point]) -> list[ChangePoint]:
    over_time = levels(points)
    better = direction(series.metric, series.unit, series.better)
    return [
        _change_point(series, better, over_time, change)
        for change in find_changes([level.value for level in over_time])
    ]


def _change_point(
    series: Series, better: Better | None, over_time: Sequence[Level], change: LevelChange
) -> ChangePoint:
    likeliest, latest = over_time[change.index], over_time[change.latest]
    possible = over_time[change.earliest : change.latest + 1]
    return ChangePoint(
        series.entry, series.metric, series.fingerprint, series.unit, better,
        session=likeliest.session, at=likeliest.at, ratio=change.ratio, before=change.before, after=change.after,
        index=change.index, earliest=over_time[change.earliest].session, latest=latest.session, possible=len(possible),
        commit_before=_last_commit(over_time[: change.earliest]), commit_after=latest.commit,
        commits=tuple(dict.fromkeys(level.commit for level in possible if level.commit)),
    )  # fmt: skip


def _last_commit(before: Sequence[Level]) -> str | None:
    return next((level.commit for level in reversed(before) if level.commit), None)


def all_change_points(history: History, *, entry: str | None = None, last: int = 1000) -> list[ChangePoint]:
    return [
        change
        for series in history.series(entry=entry, limit=100_000)
        if series.points >= FEWEST and (series.better or not is_task_metric(series.metric))
        for change in series_changes(series, history.points(series.id, limit=last))
    ]


def group(changes: Iterable[ChangePoint], sessions: Sequence[str]) -> list[Event]:
    """`sessions`: all of them, oldest first. Newest event first; within one the largest change first."""
    place = {name: number for number, name in enumerate(sessions)}
    clusters: list[list[ChangePoint]] = []
    for change in sorted(changes, key=lambda c: place.get(c.session, -1)):
        near = clusters and place.get(change.session, -1) - place.get(clusters[-1][0].session, -1) <= TOGETHER
        if near:
            clusters[-1].append(change)
        else:
            clusters.append([change])
    return [_event(cluster) for cluster in reversed(clusters)]


def _event(cluster: list[ChangePoint]) -> Event:
    largest = sorted(cluster, key=lambda c: -c.size)
    # The session that most of them name is the likeliest place.
    names = [change.session for change in cluster]
    session = max(dict.fromkeys(names), key=names.count)
    at = next(change.at for change in cluster if change.session == session)
    return Event(at, session, tuple(largest))


def what_changed(records: Sequence[Record], history: History, *, rules: Rules | None = None) -> Comparison | None:
    """A session's records against the last comparable runs of each entry that didn't miss a gate, whichever session
    they are from.

    Called after every `assay run`: reads only what it needs and imports no scipy. None if nothing of it was run before.
    Notes say which entries begin a new series, and why. Without rules, the noise floors that `assay calibrate` measured
    count. `history` may already hold `records`: only what started earlier is looked at.
    """
    counted = [record for record in records if record.counts]
    if not counted:
        return None
    before = min(record.started_at for record in counted)
    series = {record.fingerprint.key: record for record in counted}
    base = [run for record in series.values() for run in last_that_passed(record, history, before)]
    known = {run.name for run in base}
    began = _new_series([record for record in counted if record.name not in known], history, before)
    if not base:
        return Comparison("earlier sessions", counted[0].session, (), tuple(began)) if began else None
    sessions = list(dict.fromkeys(run.session for run in base))
    name = sessions[0] if len(sessions) == 1 else f"{len(sessions)} earlier sessions"
    notes: tuple[str, ...] = ()
    if rules is None:
        rules, notes = _load_rules(history)
    head = [record for record in counted if record.name in known]
    comparison = compare(
        base,
        head,
        names=(name, counted[0].session),
        rules=rules,
        past=HistoryPast(history, before),
        sides=BEFORE_AND_NOW,
    )
    folder = history.path.parent
    before_folders, now = [folder / session for session in sessions], [folder / counted[0].session]
    return with_surroundings(
        replace(comparison, notes=(*began, *comparison.notes, *notes)), base, head, before_folders, now
    )


def _new_series(records: Sequence[Record], history: History, before: str) -> list[str]:
    """A sentence for each entry that was measured before as another series: with another version, other parameters."""
    last = {record.name: record for record in records if record.outcome in MEASURED}
    nearest = {name: history.nearest(record, before) for name, record in last.items()}
    told = {name: identity_differences(run, last[name]) for name, run in nearest.items() if run is not None}
    return [new_series(name, differences) for name, differences in told.items() if differences]


def _load_rules(history: History) -> tuple[Rules, tuple[str, ...]]:
    """The noise floors beside the history. A file that cannot be read must not cost a session its summary."""
    try:
        return Rules(floors=margins(load_floors(history.path.parent))), ()
    except DataError as error:
        return Rules(), (f"noise floors are not used: {error}",)
