from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from assay.record.task_perf import STANDS_FOR, TaskPerf

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
