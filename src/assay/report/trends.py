from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from markupsafe import Markup

from assay.analysis import Row, Verdict
from assay.analysis.comparison import OWN
from assay.analysis.series_changes import ChangePoint, Level, levels, series_changes
from assay.history import History, Point, Series
from assay.history.rows import iso, microseconds
from assay.record import Record
from assay.report.quantity import quantity
from assay.report.session_view import MEASURED, EntryView
from assay.report.svg.lines import overlay_svg, sparkline_svg

SESSIONS = 30
"""Sessions drawn in a spark line, the newest."""
_RECENT = 8
"""Newest sessions in which a step still counts as the change of a metric that is said to have changed."""


@dataclass(frozen=True)
class ReportTrend:
    """A metric of an entry over the last sessions, the report's own last."""

    metric: str
    unit: str | None
    levels: tuple[Level, ...]
    """One a session, oldest first."""
    changes: tuple[ChangePoint, ...]
    """Where the level changed; `index` counts `levels`."""

    @classmethod
    def of(cls, series: Series, points: Sequence[Point], own: Level | None) -> ReportTrend:
        """`own`: level of the session itself, where the history does not hold it yet."""
        found = levels(points)
        if own is not None and all(level.session != own.session for level in found):
            found.append(own)
            points = [*points, Point(own.at, own.value, "", own.session, own.commit)]
        return cls(series.metric, series.unit, tuple(found), tuple(series_changes(series, points)))

    def spark(self, moved: bool = False) -> Markup:
        """`moved`: it changed in the last session itself, which no change point can tell from a spike yet."""
        first = max(0, len(self.levels) - SESSIONS)
        shown = self.levels[first:]
        if len(shown) < 2:
            return Markup("")
        steps = {change.index - first for change in self.changes if change.index > first}
        if moved and not any(step >= len(shown) - _RECENT for step in steps):
            steps.add(len(shown) - 1)
        return sparkline_svg([level.value for level in shown], self._words(shown, len(steps)), sorted(steps))

    def _words(self, shown: Sequence[Level], steps: int) -> str:
        first, last = (quantity(float(f"{level.value:.4g}"), self.unit) for level in (shown[0], shown[-1]))
        marked = "" if not steps else ", 1 step" if steps == 1 else f", {steps} steps"
        return f"{self.metric}, last {len(shown)} sessions: {first} to {last}{marked}"

    def levels_near(self, level: float) -> tuple[float, ...]:
        """Earlier sessions of one level, the one nearest to `level`: what a change of the last session is told by."""
        own = len(self.levels) - 1
        starts = [0, *(change.index for change in self.changes if 0 < change.index < own)]
        stretches = [[one.value for one in self.levels[a:b]] for a, b in pairwise([*starts, own])]
        return tuple(min((s for s in stretches if s), key=lambda s: abs(median(s) - level), default=()))


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


_FEW = 4
"""Earlier runs below which the levels of earlier sessions say more."""
CHANGED = (Verdict.REGRESSED, Verdict.IMPROVED)


@dataclass(frozen=True)
class Moved:
    """A metric that changed, drawn: before and now on one scale, and over the last sessions."""

    overlay: Markup
    before: str
    """What the earlier values are: `6 runs`, `12 earlier sessions`."""
    now: str
    spark: Markup

    @classmethod
    def of(cls, row: Row, view: EntryView, earlier: Earlier) -> Moved:
        trend = earlier.trend(row.entry, row.metric)
        now = next((metric.values for metric in view.metrics() if metric.name == row.metric), ())
        before = earlier.values(row.entry, row.metric)
        what = _count(len(before), "run")
        levels = trend.levels_near(row.before) if trend and row.before is not None else ()
        if len(before) < _FEW and len(levels) > len(before):
            before, what = levels, _count(len(levels), "earlier session")
        runs = _count(len(now), "run")
        label = f"{row.entry} {row.metric}: before ({what}) and now ({runs}) on one scale"
        spark = trend.spark(moved=True) if trend else Markup("")
        return cls(overlay_svg(before, now, row.unit, label), what, runs, spark)


def most_telling(rows: Iterable[Row]) -> list[Row]:
    """Exact metrics, what else the program measures, what Assay measures of any; each with the largest change first."""
    return sorted(
        rows,
        key=lambda row: (row.design != "exact", row.metric in OWN, -abs(math.log(row.ratio)) if row.ratio else 0.0),
    )


def _count(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
