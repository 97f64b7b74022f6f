"""Pages of entries."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from assay.history import RunRow, Series
from assay.record import Fingerprint
from assay.record.task_metrics import is_task_metric
from assay.report.dashboard.asked import Asked, NotThere
from assay.report.dashboard.store import Store
from assay.report.dashboard.trend import Trend, trend
from assay.report.svg.sparkline import sparkline_svg


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
    series: tuple[tuple[Series, Trend | None], ...]
    fingerprints: dict[str, Fingerprint]
    runs: tuple[RunRow, ...]


def entry(store: Store, asked: Asked) -> EntryShown:
    name = asked.get("name", "")
    with store.history() as history:
        if history is None or not (latest := history.runs(entry=name, limit=20)):
            raise NotThere(f"no run of an entry {name!r} has been recorded")
        found = sorted(history.series(entry=name, limit=300), key=lambda one: is_task_metric(one.metric))
        drawn = [(one, trend(history, one)) for one in found]
        keys = {one.fingerprint for one in found}
        marks = {key: mark for key in keys if (mark := history.fingerprint(key))}
    return EntryShown(name, tuple(drawn), marks, tuple(latest))
