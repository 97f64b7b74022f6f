from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from markupsafe import Markup

from assay.analysis import Comparison, Row, Verdict
from assay.analysis.colocation.colocation_result import ColocationResult
from assay.analysis.evidence import median_interval
from assay.analysis.serving import ServingResult
from assay.errors import DataError, UsageError
from assay.files.reading import ReadLimit, Unreadable, inside, read_bytes
from assay.names import quote, unknown
from assay.record import OUTPUT_FILE, Outcome, Record, SessionFolder
from assay.record.task import is_task_metric
from assay.report.exhibits.colocation import ColocationExhibit
from assay.report.exhibits.distribution import Distribution, distribution, percentile_ladder
from assay.report.exhibits.metric_tables import matrix, slowdown_matrices, table_of_rows, tabulate_dotted
from assay.report.exhibits.plots import Cell, Grid, Plot, curve
from assay.report.exhibits.serving import ServingExhibit
from assay.report.exhibits.stages import PipelineStages, resource_plots, service_plots, stage_breakdown
from assay.report.exhibits.weights import WeightExhibit
from assay.report.quantity import number, quantity
from assay.report.run_folder import PageLimits, RunFolder
from assay.report.session_view import EntryView, MetricView
from assay.report.svg.distributions import dots_svg, histogram_svg
from assay.report.trends import CHANGED, Earlier, most_telling

_RAY = "logs/ray_startup.log"
_FILES = {
    "both": OUTPUT_FILE,
    "stdout": "logs/stdout.log",
    "stderr": "logs/stderr.log",
    "ray": _RAY,
    "service": "logs/service.log",
}


@dataclass(frozen=True)
class EntryLog:
    path: Path
    note: str = ""
    """Whose log it is, where that is not the entry's own."""

    @classmethod
    def find(cls, folder: SessionFolder, entry: str, stream: str, repeat: int | None = None) -> EntryLog:
        """The log of a run: by its record if it has ended, by where its log will be if it still runs."""
        runs = [record for record in folder.records() if record.name == entry and repeat in (None, record.repeat)]
        kept = [RunFolder(folder, record).file("service_log") for record in reversed(runs)]
        if stream == "service" and any(kept):  # a service that is kept has its log where it was started
            return cls(next(path for path in kept if path is not None))
        places = [RunFolder(folder, record).path for record in reversed(runs)]
        root = folder.path.resolve()
        own = inside(root, entry)
        if own is not None:
            places += [*sorted(own.glob(f"run-{repeat:02d}*" if repeat else "run-*"), reverse=True), own]
        for place in sorted(places, key=_modification_time, reverse=True) if repeat is None else places:
            if (place / _FILES[stream]).is_file():
                return cls(place / _FILES[stream])
        last = runs[-1] if runs else None
        if last is not None and last.outcome is Outcome.NOT_STARTED and (places[0] / _RAY).is_file():
            return cls(places[0] / _RAY, f"{quote(entry)} was not started; this is the log of its Ray cluster's start")
        raise UsageError(_not_found(folder, entry, stream, last))


def _modification_time(place: Path) -> float:
    log = place / _FILES["both"]
    return log.stat().st_mtime if log.is_file() else 0.0


def _not_found(folder: SessionFolder, entry: str, stream: str, last: Record | None) -> str:
    where = f"{quote(entry)} of {folder.path}"
    if last is not None and stream == "ray":
        return f"{where} has no log of a Ray cluster's start: none was started for it"
    if last is not None and stream == "service":
        return f"{where} has no log of a service: none was started for it"
    if last is not None:
        return f"{where} has no log: it was not started: {'; '.join(last.reasons) or last.outcome}"
    planned = folder.info().planned
    if entry in planned:
        return f"{where} has no log yet: it has not started"
    names = list(dict.fromkeys([*planned, *(record.name for record in folder.records())]))
    return unknown("entry", entry, names, of=str(folder.path))


@dataclass(frozen=True)
class MetricRow:
    name: str
    value: str
    spread: str
    """Spread of the runs in words: `98.2 to 103`."""
    how: str
    """What the spread is: `95% interval of the median of 8 runs`, `lowest and highest of 3 runs`."""
    dots: Markup
    better: str
    change: Row | None
    spark: Markup = Markup("")
    """Small chart of the last sessions, where it changed."""

    @classmethod
    def of(
        cls,
        metric: MetricView,
        change: Row | None,
        before: tuple[float, ...] = (),
        spark: Markup = Markup(""),
    ) -> MetricRow:
        """`before`: one value a run of those it is compared with."""
        values, of_what = metric.values, "runs"
        if len(values) < 2:
            values, of_what = metric.samples, "samples of one run"
        low, high, how = _spread(values, of_what)
        spread, dots = "", Markup("")
        if low is not None and high is not None and low != high:
            spread = f"{quantity(low, metric.unit)} to {quantity(high, metric.unit)}"
            label = f"{len(values)} {of_what}, {spread}" + (f"; {len(before)} before in grey" if before else "")
            dots = dots_svg(values, low, high, label, before) if len(metric.values) > 1 else Markup("")
        value = quantity(metric.value, metric.unit)
        return cls(metric.name, value, spread, how, dots, metric.better or "", change, spark)


def _spread(values: tuple[float, ...], of_what: str) -> tuple[float | None, float | None, str]:
    if len(values) < 2:
        return None, None, ""
    interval = median_interval(values)
    if interval is not None:
        return interval.low, interval.high, f"95% interval of the median, {len(values)} {of_what}"
    return min(values), max(values), f"lowest and highest of {len(values)} {of_what}"


_MOST_PROFILE_BYTES = 150_000

T = TypeVar("T")
Scales = Mapping[tuple[str, str | None], tuple[float, float]]
"""Lowest and highest value, by metric and unit."""


@dataclass(frozen=True)
class EntryPage:
    """All that is shown of one entry."""

    anchor: str
    view: EntryView
    changes: dict[str, Row]
    headline: tuple[MetricRow, ...]
    metrics: tuple[MetricRow, ...]
    left_out: int
    """Metrics there was no room for."""
    grids: tuple[Grid, ...]
    distributions: tuple[tuple[Distribution, Markup], ...]
    colocation: ColocationExhibit | None
    """Exhibit of pipelines that ran beside each other; tables of their slowdowns and stages are then in it."""
    colocation_problem: str
    """Why what it left of them is not shown, or empty."""
    serving: ServingExhibit | None
    """Exhibit of a load on an endpoint."""
    serving_problem: str
    stages: tuple[PipelineStages, ...]
    curves: tuple[Plot, ...]
    plots: tuple[Plot, ...]
    """What the run used over time."""
    log: str
    profile: str | None
    spark: Markup = Markup("")
    """Small chart of its first metric over the last sessions."""
    spark_of: str = ""
    """Which metric that is."""
    weights: WeightExhibit | None = None
    """Exhibit of suites that measured stores of model weights."""

    @classmethod
    def of(
        cls,
        view: EntryView,
        folder: SessionFolder,
        anchor: str,
        changes: Comparison | None,
        limits: PageLimits,
        earlier: Earlier | None = None,
        scales: Scales | None = None,
    ) -> EntryPage:
        """`scales`: of distributions, where other entries have the same metric."""
        found = {row.metric: row for row in changes.rows if row.entry == view.name} if changes else {}
        earlier, scales = earlier or Earlier(()), scales or {}
        metrics = view.metrics()
        shaped = [grid for metric in metrics for grid in (matrix(metric), table_of_rows(metric)) if grid]
        ladders, plain = _ladders([m for m in metrics if not (matrix(m) or table_of_rows(m))])
        files = RunFolder(folder, view.shown) if view.shown else None
        colocation, problem = _colocation(files, f"{anchor}-", limits)
        serving, unread = _serving(files, limits)
        weights, plain = WeightExhibit.of(plain)
        slowdowns, plain = slowdown_matrices(plain)
        dotted, plain = tabulate_dotted(plain)
        rows = [_row(metric, found.get(metric.name), view, earlier) for metric in _in_order(plain, view, found)]
        curves = [c for metric in metrics if (c := curve(metric))]
        drawn = (distribution(metric, limits.bins, scales.get((metric.name, metric.unit))) for metric in metrics)
        distributions = [one for one in drawn if one]
        spark_of, spark = _spark(view, earlier)
        return cls(
            anchor=anchor,
            view=view,
            changes=found,
            headline=tuple(MetricRow.of(metric, found.get(metric.name)) for metric in view.headline()),
            metrics=tuple(rows[: limits.metrics]),
            left_out=max(0, len(rows) - limits.metrics),
            grids=(*(() if colocation and colocation.maps else slowdowns), *shaped, *dotted, *ladders),
            distributions=tuple((made, histogram_svg(made)) for made in distributions),
            colocation=colocation,
            colocation_problem=problem,
            serving=serving,
            serving_problem=unread,
            stages=_stages(files, view) if files and not (colocation and colocation.bars) else (),
            curves=tuple(Plot(c.metric, "", c.x, c.lines, f"against {c.x_name}", c.x_name) for c in curves),
            plots=_plots(files, limits) if files else (),
            log=files.log_tail(limits.log_lines) if files else "",
            profile=_profile(files),
            spark=spark,
            spark_of=spark_of,
            weights=weights,
        )

    @classmethod
    def brief(cls, view: EntryView, changes: Comparison | None) -> EntryPage:
        """What a table of entries shows: nothing is read from disk."""
        found = {row.metric: row for row in changes.rows if row.entry == view.name} if changes else {}
        headline = tuple(MetricRow.of(metric, found.get(metric.name)) for metric in view.headline())
        return cls("", view, found, headline, (), 0, (), (), None, "", None, "", (), (), (), "", None)

    @property
    def charts(self) -> tuple[Plot, ...]:
        """All line charts in the order of the page: its script counts them."""
        exhibits = (one for one in (self.colocation, self.serving, self.weights) if one is not None)
        return (*(plot for one in exhibits for plot in one.plots), *self.curves, *self.plots)

    @property
    def regressed(self) -> bool:
        return any(change.verdict is Verdict.REGRESSED for change in self.changes.values())

    @property
    def worst(self) -> Row | None:
        """The change that says most: a regression, otherwise an improvement."""
        by_verdict = ([row for row in self.changes.values() if row.verdict is verdict] for verdict in CHANGED)
        return next((most_telling(rows)[0] for rows in by_verdict if rows), None)

    @property
    def open(self) -> bool:
        """Shown unfolded: what somebody has to look at."""
        return self.regressed or not self.view.passed


def _colocation(files: RunFolder | None, prefix: str, limits: PageLimits) -> tuple[ColocationExhibit | None, str]:
    return _exhibit(
        files.colocation() if files else None,
        lambda path: ColocationExhibit.of(ColocationResult.read(path), prefix, limits),
    )


def _serving(files: RunFolder | None, limits: PageLimits) -> tuple[ServingExhibit | None, str]:
    return _exhibit(
        files.serving() if files else None, lambda path: ServingExhibit.of(ServingResult.read(path), limits)
    )


def _exhibit(path: Path | None, read: Callable[[Path], T]) -> tuple[T | None, str]:
    """What is shown of a file, or why it is not."""
    if path is None:
        return None, ""
    try:
        return read(path), ""
    except FileNotFoundError:
        return None, ""
    except DataError as error:
        # Its reason alone: the page is read elsewhere, where a path leads nowhere.
        return None, f"{path.name} is not shown: it {str(error).removeprefix(f'{path}: ')}"


def _ladders(metrics: list[MetricView]) -> tuple[list[Grid], list[MetricView]]:
    """Objects of percentiles, as one table with a row each."""
    found = {metric.name: ladder for metric in metrics if (ladder := percentile_ladder(metric.value))}
    if not found:
        return [], metrics
    columns = tuple(dict.fromkeys(name for ladder in found.values() for name in ladder))
    rows = tuple(
        (Cell(name), *(Cell(number(ladder[c]) if c in ladder else "–", number=True) for c in columns))
        for name, ladder in found.items()
    )
    return [Grid("Percentiles", ("", *columns), rows)], [metric for metric in metrics if metric.name not in found]


def _in_order(metrics: list[MetricView], view: EntryView, changes: dict[str, Row]) -> list[MetricView]:
    """What changed, what is required, what has a direction, the rest, what Assay measured itself, and last statistics
    of tasks, which the table of stages sums up."""
    required = {result.metric for result in view.requirements}

    def rank(metric: MetricView) -> int:
        change = changes.get(metric.name)
        if change is not None and change.verdict in (Verdict.REGRESSED, Verdict.IMPROVED):
            return 0
        if metric.name in required:
            return 1
        if is_task_metric(metric.name):
            return 6
        if metric.name.startswith("usage."):
            return 5
        if metric.name == "exec_time_s":
            return 4
        return 2 if metric.better else 3

    return sorted(metrics, key=rank)


def _row(metric: MetricView, change: Row | None, view: EntryView, earlier: Earlier) -> MetricRow:
    """What changed is drawn beside what it was."""
    if change is None or change.verdict not in CHANGED:
        return MetricRow.of(metric, change)
    trend = earlier.trend(view.name, metric.name)
    spark = trend.spark(moved=True) if trend else Markup("")
    return MetricRow.of(metric, change, earlier.values(view.name, metric.name), spark)


def _spark(view: EntryView, earlier: Earlier) -> tuple[str, Markup]:
    """Name and small chart of the first metric that the history knows: one with a direction before the run's time."""
    names = [metric.name for metric in view.headline() if metric.better and metric.values]
    for name in (*names, "exec_time_s"):
        trend = earlier.trend(view.name, name)
        if trend and (spark := trend.spark()):
            return name, spark
    return "", Markup("")


def _stages(files: RunFolder, view: EntryView) -> tuple[PipelineStages, ...]:
    return stage_breakdown(files.tasks(), view.shown.exec_time_s if view.shown else None)


def _plots(files: RunFolder, limits: PageLimits) -> tuple[Plot, ...]:
    own = resource_plots(files.usage_series(), limits.points)[: limits.plots]
    return (*own, *service_plots(files.service_usage_series(), files.service_metrics(), limits.points))


def _profile(files: RunFolder | None) -> str | None:
    """The flame graph as an image: what is drawn in it may come from a hostile name, and images run no scripts."""
    path = files.profile() if files else None
    if path is None or path.suffix != ".svg":
        return None
    try:
        image = read_bytes(path, ReadLimit(_MOST_PROFILE_BYTES))
    except (FileNotFoundError, Unreadable):
        return None
    return "data:image/svg+xml;base64," + b64encode(image).decode()
