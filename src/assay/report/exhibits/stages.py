from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from assay.record import TaskPerf, TaskPerfUtils
from assay.record.task import STANDS_FOR
from assay.report.exhibits.plots import Plot
from assay.report.quantity import quantity
from assay.report.run_folder import ScrapedSeries, UsageSeries

MOST_SCRAPED = 8
"""Charts of a server's own metrics: the first of its page that changed."""


def resource_plots(series: UsageSeries, most_points: int) -> tuple[Plot, ...]:
    if len(series.t) < 3:
        return ()
    plots = [_plot("Processor", "cores", series, most_points, [("used", series.rate("cpu_s"))])]
    plots.append(_plot("Memory", "MB", series, most_points, [("resident", series.column("rss_mb"))]))
    moved = [("read", series.rate("read_mb")), ("written", series.rate("write_mb"))]
    if any(value > 0.05 for _, values in moved for value in values):
        plots.append(_plot("Disk", "MB/s", series, most_points, moved))
    if any(value > 0.02 for value in series.rate("steal_s")):
        plots.append(
            _plot("Stolen by other machines", "cores", series, most_points, [("steal", series.rate("steal_s"))])
        )
    return tuple(plot for plot in plots if plot.lines)


def service_plots(series: UsageSeries, scraped: ScrapedSeries, most_points: int) -> tuple[Plot, ...]:
    """Processor and memory of the server beside a program, and what its Prometheus page said."""
    used = [plot for plot in resource_plots(series, most_points) if plot.title in ("Processor", "Memory", "Disk")]
    plots = [replace(plot, title=f"Service: {plot.title.lower()}") for plot in used]
    for name in scraped.changing()[:MOST_SCRAPED]:
        points = scraped.points[name]
        t, values = [at for at, _ in points], [value for _, value in points]
        if len(points) >= 3:
            line = ((name.partition("{")[0], tuple(thin(values, most_points))),)
            words = f"mean {sum(values) / len(values):.3g}, highest {max(values):.3g}"
            plots.append(Plot(f"Service: {name}", "", tuple(thin(t, most_points)), line, words))
    return tuple(plots)


def _plot(
    title: str, unit: str, series: UsageSeries, most_points: int, lines: Sequence[tuple[str, Sequence[float]]]
) -> Plot:
    present = [(name, values) for name, values in lines if len(values) == len(series.t)]
    x = thin(series.t, most_points)
    words = "; ".join(
        f"{name}: mean {quantity(sum(values) / len(values), unit)}, highest {quantity(max(values), unit)}"
        for name, values in present
    )
    return Plot(
        title, unit, tuple(x), tuple((name, tuple(thin(values, most_points))) for name, values in present), words
    )


def thin(values: Sequence[float], most: int) -> list[float]:
    """Thins to at most `most` values, each the mean of its stretch: a short burst is flattened, not left out by
    chance."""
    if len(values) <= most:
        return [float(f"{value:.3g}") for value in values]
    edges = [round(i * len(values) / most) for i in range(most + 1)]
    return [float(f"{sum(values[a:b]) / (b - a):.3g}") for a, b in pairwise(edges)]


_TIMES = ("process_time", "wall_time", "duration", "cpu_time")


@dataclass(frozen=True)
class StageTime:
    name: str
    calls: int
    seconds: float
    share: float
    """Share of the run's time, where its stages took no longer than it; otherwise of the time of all stages of its
    pipeline."""
    p50_s: float
    p95_s: float


@dataclass(frozen=True)
class PipelineStages:
    """Where one pipeline's time went."""

    pipeline: str
    """Empty where there is only one, which has no name."""
    stages: tuple[StageTime, ...]
    """Stages in the order they first ran."""
    run_s: float | None = None
    """Time of the whole run, where there is one pipeline."""

    @property
    def staged_s(self) -> float:
        return _sum(stage.seconds for stage in self.stages)

    @property
    def untimed_s(self) -> float | None:
        """What is in no stage, at least; None where stages ran beside each other for longer than the run took."""
        return None if self.run_s is None or self.run_s < self.staged_s else self.run_s - self.staged_s

    @property
    def untimed_share(self) -> float:
        return (self.untimed_s or 0.0) / self.run_s if self.run_s else 0.0


@dataclass(frozen=True)
class _Calls:
    """Times of one stage's calls in seconds, by length, and how many calls each stands for."""

    times: tuple[float, ...]
    counts: tuple[float, ...]

    @classmethod
    def of(cls, metrics: Mapping[str, list[float]]) -> _Calls:
        times = next((metrics[name] for name in _TIMES if name in metrics), [])
        standing = metrics.get(STANDS_FOR, [])
        counts = standing if len(standing) == len(times) else [1.0] * len(times)
        pairs = zip(times, counts, strict=True)
        known = sorted((t, n) for t, n in pairs if math.isfinite(t) and t >= 0 and math.isfinite(n) and n > 0)
        return cls(tuple(time for time, _ in known), tuple(count for _, count in known))

    @property
    def count(self) -> float:
        return _sum(self.counts)

    @property
    def seconds(self) -> float:
        return _sum(time * count for time, count in zip(self.times, self.counts, strict=True))

    def at(self, share: float) -> float:
        rank, reached = max(1.0, math.ceil(share * self.count)), 0.0
        for time, count in zip(self.times, self.counts, strict=True):
            reached += count
            if reached >= rank:
                return time
        return self.times[-1]


def stage_breakdown(tasks: Sequence[TaskPerf], run_s: float | None = None) -> tuple[PipelineStages, ...]:
    """Pipelines that ran beside each other name their stages `pipeline/stage`: each has a whole of its own."""
    timed = {stage: _Calls.of(metrics) for stage, metrics in TaskPerfUtils.collect_stage_metrics(tasks).items()}
    timed = {stage: calls for stage, calls in timed.items() if calls.times}
    by_pipeline: dict[str, dict[str, _Calls]] = {}
    named = all("/" in stage for stage in timed)
    for stage, calls in timed.items():
        pipeline, _, name = stage.partition("/") if named else ("", "", stage)
        by_pipeline.setdefault(pipeline, {})[name] = calls
    whole = run_s if len(by_pipeline) == 1 and not named and run_s and math.isfinite(run_s) else None
    parts = (PipelineStages(pipeline, _stage_times(stages, whole), whole) for pipeline, stages in by_pipeline.items())
    return tuple(part for part in parts if part.stages)


def _stage_times(timed: Mapping[str, _Calls], run_s: float | None) -> tuple[StageTime, ...]:
    total = _sum(calls.seconds for calls in timed.values())
    if not 0 < total < math.inf:
        return ()  # no time at all, or more than a number holds: no program took that
    total = max(total, run_s or 0.0)
    return tuple(
        StageTime(stage, round(calls.count), calls.seconds, calls.seconds / total, calls.at(0.5), calls.at(0.95))
        for stage, calls in timed.items()
    )


def _sum(values: Iterable[float]) -> float:
    try:
        return math.fsum(values)
    except OverflowError:
        return math.inf
