from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from assay.analysis.direction import direction
from assay.analysis.verdict import Verdict
from assay.history import History, Point, Series
from assay.record.metric import Better
from assay.stats.change_points import find_changes

FEWEST = 10
"""Sessions; a step needs five on either side."""
TOGETHER = 2
"""Sessions that two steps may lie apart and still be one event: noise moves a step's place by that much."""


@dataclass(frozen=True)
class ChangePoint:
    """A series changed its level for good."""

    entry: str
    metric: str
    fingerprint: str
    unit: str | None
    better: Better | None
    session: str
    """The first at the new level, and when it began."""
    at: str
    ratio: float
    before: float
    after: float
    index: int
    """Of that session among those of the series, as `sessions` orders them."""
    commit_before: str | None
    commit_after: str | None

    @property
    def verdict(self) -> Verdict | None:
        """None where nothing says which way is better."""
        if self.better is None:
            return None
        return Verdict.REGRESSED if (self.ratio > 1) == (self.better == "lower") else Verdict.IMPROVED


@dataclass(frozen=True)
class Event:
    """Change points of several metrics and entries that moved together; most likely one cause."""

    at: str
    session: str
    points: tuple[ChangePoint, ...]

    @property
    def commits(self) -> tuple[str | None, str | None]:
        """The newest commit known before, the first one after. Between them lies the cause, if it was a commit."""
        return (
            next((p.commit_before for p in self.points if p.commit_before), None),
            next((p.commit_after for p in self.points if p.commit_after), None),
        )

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
    """One a session, oldest first; values that have no logarithm are left out."""
    by_session: dict[str, list[Point]] = {}
    for point in points:
        if point.value > 0 and math.isfinite(point.value):
            by_session.setdefault(point.session, []).append(point)
    return [
        Level(session, runs[0].started_at, median(run.value for run in runs), runs[0].git_commit)
        for session, runs in by_session.items()
    ]


def change_points(series: Series, points: Iterable[Point]) -> list[ChangePoint]:
    over_time = levels(points)
    if len(over_time) < FEWEST:
        return []
    better = direction(series.metric, series.unit, series.better)
    return [
        ChangePoint(
            series.entry, series.metric, series.fingerprint, series.unit, better,
            session=over_time[change.index].session, at=over_time[change.index].at,
            ratio=change.ratio, before=change.before, after=change.after, index=change.index,
            commit_before=_last_commit(over_time[: change.index]), commit_after=over_time[change.index].commit,
        )
        for change in find_changes([level.value for level in over_time])
    ]  # fmt: skip


def _last_commit(before: Sequence[Level]) -> str | None:
    return next((level.commit for level in reversed(before) if level.commit), None)


def all_change_points(history: History, *, entry: str | None = None, last: int = 1000) -> list[ChangePoint]:
    return [
        change
        for series in history.series(entry=entry, limit=100_000)
        if series.points >= FEWEST
        for change in change_points(series, history.points(series.id, limit=last))
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
    largest = sorted(cluster, key=lambda c: -abs(math.log(c.ratio)))
    # The session that most of them name is the likeliest place.
    names = [change.session for change in cluster]
    session = max(dict.fromkeys(names), key=names.count)
    at = next(change.at for change in cluster if change.session == session)
    return Event(at, session, tuple(largest))
