from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from assay.analysis.changes.series_change import worse_or_better
from assay.analysis.direction import direction
from assay.analysis.verdict import Verdict
from assay.history import History, Point, Series
from assay.record.metric import Better
from assay.record.task_metrics import is_task_metric
from assay.stats.changes.change_points import FEWEST, LevelChange, find_changes

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
