"""Pages of entries and their series over time."""

from __future__ import annotations

import math
from dataclasses import dataclass

from markupsafe import Markup

from assay.analysis.change_point import ChangePoint, series_changes
from assay.history import Point, RunRow, Series
from assay.history.instant import microseconds
from assay.record import Fingerprint
from assay.record.task_metrics import is_task_metric
from assay.report.dashboard.asked import Asked, NotThere, number_asked
from assay.report.dashboard.store import Store
from assay.report.exhibits.plot import Plot
from assay.report.quantity import quantity
from assay.report.svg.sparkline import sparkline_svg

TREND = 1000


@dataclass(frozen=True)
class EntryRow:
    name: str
    latest: RunRow
    trend: Markup


def entries(store: Store, asked: Asked) -> tuple[EntryRow, ...]:
    wanted = asked.get("name", "").lower()
    rows = []
    with store.history() as history:
        names = [name for name in history.entries() if wanted in name.lower()] if history else []
        for name in names[:500]:
            assert history is not None
            latest = history.runs(entry=name, limit=20)
            if not latest:
                continue  # a name that only fingerprints have: its runs were replaced, or say another one
            times = [run.exec_time_s for run in reversed(latest) if run.counts and run.outcome in ("passed", "missed")]
            rows.append(EntryRow(name, latest[0], sparkline_svg(times, f"{len(times)} latest times of {name}")))
    rows.sort(key=lambda row: row.latest.started_at, reverse=True)
    return tuple(rows)


@dataclass(frozen=True)
class EntryShown:
    name: str
    series: tuple[tuple[Series, Markup], ...]
    fingerprints: dict[str, Fingerprint]
    runs: tuple[RunRow, ...]


def entry(store: Store, asked: Asked) -> EntryShown:
    name = asked.get("name", "")
    with store.history() as history:
        if history is None or not (latest := history.runs(entry=name, limit=20)):
            raise NotThere(f"no run of an entry {name!r} has been recorded")
        found = sorted(history.series(entry=name, limit=300), key=lambda one: is_task_metric(one.metric))
        drawn = [
            (one, sparkline_svg([point.value for point in history.points(one.id, limit=60)], f"trend of {one.metric}"))
            for one in found
        ]
        keys = {one.fingerprint for one in found}
        marks = {key: mark for key in keys if (mark := history.fingerprint(key))}
    return EntryShown(name, tuple(drawn), marks, tuple(latest))


@dataclass(frozen=True)
class SeriesShown:
    series: Series
    fingerprint: Fingerprint | None
    points: tuple[Point, ...]
    changes: tuple[ChangePoint, ...]
    others: tuple[tuple[Series, tuple[str, ...]], ...]
    """The same metric under other fingerprints, and why they are not one series."""

    @property
    def plot(self) -> Plot:
        values = tuple(point.value for point in self.points)
        return Plot(
            title=self.series.metric,
            unit=self.series.unit or "",
            x=tuple(_seconds(point.started_at) for point in self.points),
            lines=((self.series.metric, values),),
            says=self._words(values),
            x_name="UTC",
            time=True,
            zero=False,
            marks=tuple(_seconds(change.at) for change in self.changes),
            tall=True,
        )

    def _words(self, values: tuple[float, ...]) -> str:
        there = [value for value in values if math.isfinite(value)]
        if not there:
            return "no values"
        lowest, highest, latest = (quantity(value, self.series.unit) for value in (min(there), max(there), there[-1]))
        days = " to ".join(dict.fromkeys(point.started_at[:10] for point in (self.points[0], self.points[-1])))
        return f"{len(there)} values of {days}, lowest {lowest}, highest {highest}, latest {latest}"


def series(store: Store, asked: Asked) -> SeriesShown:
    with store.history() as history:
        one = history.series_by_id(number_asked(asked, "id")) if history else None
        if history is None or one is None:
            raise NotThere(f"there is no series {asked.get('id', '')!r}")
        points = history.points(one.id, limit=number_asked(asked, "last") or TREND)
        mark = history.fingerprint(one.fingerprint)
        others = []
        for other in history.series(entry=one.entry, metric=one.metric):
            theirs = history.fingerprint(other.fingerprint)
            if other.id != one.id and mark and theirs:
                others.append((other, tuple(theirs.differences(mark))))
    return SeriesShown(one, mark, tuple(points), tuple(series_changes(one, points)), tuple(others))


def _seconds(iso: str) -> float:
    return microseconds(iso) / 1e6
