from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from assay.analysis.changes.change_point import Level
from assay.history import History, Series
from assay.history.instant import iso, microseconds
from assay.record import Record
from assay.report.earlier.report_trend import ReportTrend
from assay.report.view import MEASURED

LOOK_BACK = 1000
"""Values of a series that are read."""


class Earlier:
    """Read when it is asked for, and once: a page is drawn several times until it is small enough."""

    def __init__(
        self, records: Sequence[Record], history: History | None = None, base: Sequence[Record] | None = None
    ) -> None:
        """`base`: what the session is compared with, where that was chosen."""
        self._counted = [record for record in records if record.counts]
        self._history = history
        self._base = None if base is None else [run for run in base if run.counts]
        self._runs: dict[str, tuple[Record, ...]] = {}
        self._series: dict[str, dict[str, Series]] = {}
        self._trends: dict[tuple[str, str], ReportTrend | None] = {}

    def runs(self, entry: str) -> tuple[Record, ...]:
        """Earlier runs that a comparison holds the entry against."""
        if entry not in self._runs:
            self._runs[entry] = tuple(self._found(entry))
        return self._runs[entry]

    def values(self, entry: str, metric: str) -> tuple[float, ...]:
        """Values of those runs, one for each."""
        numbers = (run.metrics[metric].number for run in self.runs(entry) if metric in run.metrics)
        return tuple(value for value in numbers if value is not None and math.isfinite(value))

    def trend(self, entry: str, metric: str) -> ReportTrend | None:
        """None where the history has nothing of it."""
        key = entry, metric
        if key not in self._trends:
            self._trends[key] = self._read(entry, metric)
        return self._trends[key]

    def _own(self, entry: str) -> list[Record]:
        return [record for record in self._counted if record.name == entry]

    def _found(self, entry: str) -> Sequence[Record]:
        if self._base is not None:
            return [run for run in self._base if run.name == entry]
        own = self._own(entry)
        if self._history is None or not own:
            return ()
        before = min(record.started_at for record in self._counted)
        return self._history.last_comparable(own[-1].fingerprint, before)

    def _read(self, entry: str, metric: str) -> ReportTrend | None:
        own = self._own(entry)
        if self._history is None or not own:
            return None
        if entry not in self._series:
            key = own[-1].fingerprint.key
            found = self._history.series(entry=entry)
            self._series[entry] = {series.metric: series for series in found if series.fingerprint == key}
        series = self._series[entry].get(metric)
        if series is None:
            return None
        # A report may be written again when later sessions are known: they are none of its past.
        end = iso(max(microseconds(record.started_at) for record in own) + 1)
        points = self._history.points(series.id, before=end, limit=LOOK_BACK)
        return ReportTrend.of(series, points, _level(own, metric)) if points else None


def _level(own: Sequence[Record], metric: str) -> Level | None:
    """Level of the runs that measured something: how long a failed one took is no level of anything."""
    own = [run for run in own if run.outcome in MEASURED]
    numbers = [number for run in own if metric in run.metrics and (number := run.metrics[metric].number) is not None]
    finite = [number for number in numbers if math.isfinite(number)]
    if not finite:
        return None
    return Level(own[0].session, own[0].started_at, median(finite), own[0].git_commit)
