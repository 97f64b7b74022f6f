from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from assay.analysis.colocation.group_run import GroupRun
from assay.analysis.colocation.pipeline_run import PipelineRun, RunSeries
from assay.report.exhibits.plot import Plot
from assay.report.quantity import quantity

_LEAST_POINTS = 3
Values = Sequence[float | None]


def over_time(run: GroupRun, most: int) -> tuple[Plot, ...]:
    """Latency, throughput and what is in flight, at most so many a pipeline, all over the same stretch of time; its
    overlap is between the marks."""
    known = [one for one in run.pipelines if len(one.series.t) >= _LEAST_POINTS]
    ends = [at for one in known for at in (one.series.t[0], one.series.t[-1])]
    marks = () if run.alone or run.overlap is None else (run.overlap.begin, run.overlap.end)
    return tuple(plot for one in known for plot in _plots(one, (min(ends), max(ends)), marks)[:most])


def _plots(one: PipelineRun, ends: tuple[float, float], marks: tuple[float, ...]) -> list[Plot]:
    series = one.series
    rate = [("answered", series.throughput)]
    latency = [("p50", _milliseconds(series.p50_s)), ("p99", _milliseconds(series.p99_s))]
    waiting = [("in flight", series.in_flight)]
    kinds = (("latency", "ms", latency), ("throughput", "1/s", rate), ("queries in flight", "", waiting))
    return [
        _plot(f"{one.pipeline}: {title}", unit, series, lines, ends, marks)
        for title, unit, lines in kinds
        if any(value is not None for _, values in lines for value in values)
    ]


def _plot(
    title: str,
    unit: str,
    series: RunSeries,
    lines: Sequence[tuple[str, Values]],
    ends: tuple[float, float],
    marks: tuple[float, ...],
) -> Plot:
    # Ends without values, so that all pipelines of a run are drawn over the same stretch.
    x = (ends[0], *series.t, ends[1])
    told = "; ".join(_words(name, values, unit) for name, values in lines if any(v is not None for v in values))
    return Plot(
        title, unit, x, tuple((name, (None, *map(_short, values), None)) for name, values in lines), told, marks=marks
    )


def _words(name: str, values: Values, unit: str) -> str:
    there = [value for value in values if value is not None]
    return f"{name}: median {quantity(_short(median(there)), unit)}, highest {quantity(_short(max(there)), unit)}"


def _milliseconds(values: Values) -> Values:
    return [None if value is None else value * 1e3 for value in values]


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
