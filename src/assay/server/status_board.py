"""The first screen's contents: a row an entry and class of machines, a trend a metric, and what needs a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from assay.analysis import Comparison, Verdict
from assay.analysis.comparison import OWN
from assay.history import History, RunRow, Series, Track
from assay.record.task import is_task_metric
from assay.server.attention import failure_of, regression_of, with_acknowledgement
from assay.server.trend_charts import Trend, trend

if TYPE_CHECKING:
    from assay.server.attention import Acknowledgement, Concern


MOST_TRENDS = 60
"""Metrics of a row: those that the program says a direction of, first."""
_RECENT = 20
"""Newest sessions that are looked at: an entry that none of them ran is shown last, and needs nobody."""
_JUDGED = 3
"""Sessions whose verdicts are asked for, at most: the newest that entries were last run in."""

Verdicts = Callable[[str], Comparison | None]
"""What a session changed, by its name."""


@dataclass(frozen=True)
class GridRow:
    entry: str
    machine: str
    latest: RunRow
    tags: tuple[str, ...]
    trends: Mapping[str, Trend]
    main: str | None
    """The metric that stands for the entry: the first of its own that has a direction."""
    idle: bool
    """Not run lately."""


@dataclass(frozen=True)
class StatusBoard:
    rows: tuple[GridRow, ...] = ()
    concerns: tuple[Concern, ...] = ()
    metrics: tuple[tuple[str, int], ...] = ()
    """Names of metrics, and how many rows have each; the commonest first."""
    machines: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    problem: str = ""
    """Why acknowledgements could not be read, or empty."""
    made_at: str = ""
    number: int = 0
    """Number of this board, counting those that this server has made."""

    def acknowledge(self, given: Sequence[Acknowledgement], problem: str) -> StatusBoard:
        concerns = tuple(with_acknowledgement(concern, given) for concern in self.concerns)
        return replace(self, concerns=concerns, problem=problem)


class StatusBoardMaker:
    """Makes boards, and keeps each trend until its series has another value."""

    def __init__(self) -> None:
        self._trends: dict[int, tuple[tuple[object, ...], Trend | None]] = {}

    def make(self, history: History, verdicts: Verdicts) -> StatusBoard:
        groups: dict[tuple[str, str], list[Track]] = {}
        for track in history.tracks():
            groups.setdefault((track.entry, track.machine), []).append(track)
        recent = [row for row in history.sessions(limit=_RECENT + 1) if row.kind == "run"]
        oldest = recent[-1].started_at if len(recent) > _RECENT else ""
        used: set[int] = set()
        rows = [self._row(history, entry, machine, tracks, oldest, used) for (entry, machine), tracks in groups.items()]
        rows.sort(key=lambda row: (row.idle, row.entry.lower(), row.machine))
        for gone in set(self._trends) - used:
            del self._trends[gone]
        marks = {key: {track.fingerprint for track in tracks} for key, tracks in groups.items()}
        concerns = _concerns(history, rows, marks, verdicts)
        counted = Counter(metric for row in rows for metric in row.trends)
        return StatusBoard(
            rows=tuple(rows),
            concerns=tuple(concerns),
            metrics=tuple(sorted(counted.items(), key=lambda item: (item[0] in OWN, -item[1], item[0]))),
            machines=tuple(sorted({row.machine for row in rows})),
            tags=tuple(sorted({tag for row in rows for tag in row.tags})),
            made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    def _row(
        self, history: History, entry: str, machine: str, tracks: list[Track], oldest: str, used: set[int]
    ) -> GridRow:
        newest_first = sorted(tracks, key=lambda track: track.latest.started_at, reverse=True)
        latest = newest_first[0].latest
        series: list[Series] = []
        for track in newest_first:
            # A failed run has no values under its fingerprint: those of the last measured run stand in.
            series = [one for one in history.series_of(track.fingerprint) if _is_shown(one)]
            if series:
                break
        series = sorted(series, key=lambda one: one.better is None and one.metric not in OWN)[:MOST_TRENDS]
        trends = {one.metric: found for one in series if (found := self._trend(history, one, used))}
        own = (name for name, found in trends.items() if name not in OWN and found.better)
        tags = history.tags(latest.session, entry)
        return GridRow(entry, machine, latest, tags, trends, next(own, None), latest.started_at < oldest)

    def _trend(self, history: History, series: Series, used: set[int]) -> Trend | None:
        used.add(series.id)
        accepted = tuple(one.id for one in history.accepted(series.fingerprint))
        key = (accepted, series.points, series.latest_at, series.latest, series.unit, series.better)
        kept = self._trends.get(series.id)
        if kept is None or kept[0] != key:
            kept = self._trends[series.id] = (key, trend(history, series))
        return kept[1]


def _is_shown(series: Series) -> bool:
    return bool(series.better) or not is_task_metric(series.metric)


def _concerns(
    history: History,
    rows: Sequence[GridRow],
    marks: Mapping[tuple[str, str], set[str]],
    verdicts: Verdicts,
) -> list[Concern]:
    found = []
    last = {row.latest.session: row.latest.started_at for row in rows if not row.idle}
    newest = sorted(last, key=lambda session: last[session], reverse=True)[:_JUDGED]
    changed = {session: verdicts(session) for session in newest}
    for row in rows:
        if row.idle:
            continue
        failed = failure_of(history, row.entry, row.machine, marks[row.entry, row.machine], row.latest)
        judged = changed.get(row.latest.session)
        tonight = [one for one in judged.of(Verdict.REGRESSED) if one.entry == row.entry] if judged else []
        regressed = regression_of(row.entry, row.machine, row.trends.values(), tonight)
        if regressed is not None and not regressed.since:
            regressed = replace(regressed, since=row.latest.started_at, session=row.latest.session)
        found += [concern for concern in (failed, regressed) if concern is not None]
    by_time = sorted(found, key=lambda concern: concern.since, reverse=True)
    return sorted(by_time, key=lambda concern: concern.matter != "failed")
