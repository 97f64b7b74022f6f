"""Statistics of timed tasks as metrics of a record: `task_<stage>_<metric>_{sum,mean,std,p50,p95,p99}`.

A stage has many of them, and most move together: so they have no direction, and are no question that a comparison
must answer, unless somebody declares one.
"""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, ClassVar, Final, Self

from assay.files.reading import storable
from assay.record.metric import as_float

STANDS_FOR: Final = "stands_for"
"""Metric of a task that was kept for several calls: how many calls it stands for, itself included. Without it, one."""


@dataclass(frozen=True)
class TaskPerf:
    """One timed call of a stage or block.

    `invocation` is given once, when the call is timed, and travels with every copy: two records with the same
    one are the same call, however often it was copied or pickled.
    """

    stage: str
    metrics: Mapping[str, float]
    invocation: str = field(default_factory=lambda: os.urandom(16).hex())

    def to_json(self) -> dict[str, Any]:
        return {"stage": self.stage, "metrics": dict(self.metrics), "invocation": self.invocation}

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> TaskPerf:
        """Any language's line: `{"stage": …, "metrics": {…}}`, or the numbers beside the stage's name."""
        metrics = written.get("metrics")
        if not isinstance(metrics, Mapping):
            metrics = {key: value for key, value in written.items() if key not in ("stage", "name", "invocation")}
        stage = written.get("stage", written.get("name"))
        if not isinstance(stage, str):
            raise ValueError("has no `stage` name")
        invocation = storable(str(written.get("invocation") or os.urandom(16).hex()))
        return cls(storable(stage), dict(_numbers(metrics)), invocation)


def _numbers(metrics: Mapping[Any, Any]) -> Iterator[tuple[str, float]]:
    for name, value in metrics.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield storable(str(name)), as_float(value)


Tasks = Iterable[TaskPerf] | Mapping[str, Iterable[TaskPerf]] | None


class TaskPerfUtils:
    """Statistics of timed calls by stage. Each invocation is counted once."""

    @staticmethod
    def collect_stage_metrics(tasks: Tasks) -> dict[str, dict[str, list[float]]]:
        """stage → metric → values, in the order of the calls."""
        stages: dict[str, dict[str, list[float]]] = {}
        seen: set[str] = set()
        for _, perfs in _by_pipeline(tasks):
            for perf in perfs:
                if perf.invocation in seen:
                    continue
                seen.add(perf.invocation)
                stage = stages.setdefault(perf.stage, {})
                for name, value in perf.metrics.items():
                    stage.setdefault(name, []).append(float(value))
        return stages

    @staticmethod
    def aggregate_task_metrics(tasks: Tasks, prefix: str | None = None) -> dict[str, float]:
        """`<prefix>_<stage>_<metric>_{sum,mean,std,p50,p95,p99}` of every stage and metric. A sum is of all calls,
        those that a kept one stands for included."""
        aggregated: dict[str, float] = {}
        pipelines = list(_by_pipeline(tasks))
        for pipeline, perfs in pipelines:
            parts = [prefix, pipeline if (prefix or len(pipelines) > 1) else None]
            for stage, metrics in TaskPerfUtils.collect_stage_metrics(perfs).items():
                standing = metrics.pop(STANDS_FOR, [])
                for metric, values in metrics.items():
                    key = "_".join(part for part in [*parts, stage, metric] if part)
                    for statistic, compute in STATISTICS.items():
                        aggregated[f"{key}_{statistic}"] = compute(values)
                    if len(standing) == len(values):
                        aggregated[f"{key}_sum"] = _sum([v * n for v, n in zip(values, standing, strict=True)])
        return aggregated

    @staticmethod
    def get_aggregated_stage_stat(tasks: Tasks, stage_prefix: str, stat: str) -> float:
        stages = TaskPerfUtils.collect_stage_metrics(tasks)
        return _sum(
            [
                value
                for name, metrics in stages.items()
                if name.startswith(stage_prefix)
                for value in metrics.get(stat, ())
            ]
        )


def _by_pipeline(tasks: Tasks) -> Iterable[tuple[str, list[TaskPerf]]]:
    if tasks is None:
        return []
    if isinstance(tasks, Mapping):
        return [(str(name), list(perfs or ())) for name, perfs in tasks.items()]
    return [("", list(tasks))]


def _sum(values: Sequence[float]) -> float:
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        # Beyond what a float can hold, or infinities of both signs: what plain addition says of them.
        return sum(values)


def _mean(values: Sequence[float]) -> float:
    return _sum(values) / len(values)


def _std(values: Sequence[float]) -> float:
    mean = _mean(values)
    return math.sqrt(_sum([(value - mean) * (value - mean) for value in values]) / len(values))


def _quantile(share: float) -> Callable[[Sequence[float]], float]:
    """Linear between the two nearest values, as numpy's default."""

    def quantile(values: Sequence[float]) -> float:
        ordered = sorted(values)
        at = share * (len(ordered) - 1)
        below = math.floor(at)
        above = min(below + 1, len(ordered) - 1)
        return ordered[below] + (ordered[above] - ordered[below]) * (at - below)

    return quantile


STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {
    "sum": _sum,
    "mean": _mean,
    "std": _std,
    "p50": _quantile(0.50),
    "p95": _quantile(0.95),
    "p99": _quantile(0.99),
}


class Task:
    """A timed block: `with Task("load"): …`. Finished ones are kept until `get_all_tasks` is asked for them.

    Time is taken from a monotonic clock, so that a clock set back during the block does no harm.
    """

    _finished: ClassVar[list[TaskPerf]] = []

    def __init__(self, name: str, perf: TaskPerfUtils | None = None) -> None:
        self.name = name
        self.metrics: dict[str, float] = {}
        self.seconds = 0.0
        """How long the block took, once it has ended."""

    def __enter__(self) -> Self:
        self._cpu = time.process_time()
        self._start = time.perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.seconds = process_time = time.perf_counter() - self._start
        cpu_time = time.process_time() - self._cpu
        measured = {"process_time": process_time, "cpu_time": cpu_time, **self.metrics}
        Task._finished.append(TaskPerf(self.name, measured))

    def record(self, name: str, value: float) -> None:
        """A number of the author's own, kept beside the block's time."""
        self.metrics[name] = float(value)

    @classmethod
    def get_all_tasks(cls) -> list[TaskPerf]:
        return list(cls._finished)


PREFIX = "task"
MOST = 1200
"""Statistics of one run that become metrics; a program that names its stages by number would fill every table."""
_NAME = re.compile(rf"{PREFIX}_.+_({'|'.join(STATISTICS)})", re.DOTALL)
_SECONDS = re.compile(rf".*_time_({'|'.join(STATISTICS)})", re.DOTALL)


def is_task_metric(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def with_task_metrics(
    values: Mapping[str, Any], details: Mapping[str, Any], pipelines: Mapping[str, list[TaskPerf]]
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Values and details of the program with those of its tasks behind them, and warnings. Its own names win."""
    found = TaskPerfUtils.aggregate_task_metrics(pipelines, prefix=PREFIX)
    added = {name: found[name] for name in list(found)[:MOST] if name not in values}
    units = {name: {"unit": "s"} for name in added if _SECONDS.fullmatch(name)}
    left = len(found) - MOST
    warnings = [f"the tasks give {len(found)} statistics; {left} did not become metrics"] if left > 0 else []
    return {**values, **added}, {**units, **details}, warnings
