from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.record import TaskPerf, TaskPerfUtils

_TIMES = ("process_time", "wall_time", "duration", "cpu_time")


@dataclass(frozen=True)
class StageTime:
    name: str
    calls: int
    seconds: float
    share: float
    """Of the time of all stages."""
    p50_s: float
    p95_s: float


def stage_breakdown(tasks: Sequence[TaskPerf]) -> tuple[StageTime, ...]:
    """Where a pipeline's time went, in the order its stages first ran."""
    timed = {stage: _times(metrics) for stage, metrics in TaskPerfUtils.collect_stage_metrics(tasks).items()}
    total = math.fsum(math.fsum(values) for values in timed.values())
    if not total > 0:
        return ()
    return tuple(
        StageTime(stage, len(values), math.fsum(values), math.fsum(values) / total, _at(values, 0.5), _at(values, 0.95))
        for stage, values in timed.items()
        if values
    )


def _times(metrics: dict[str, list[float]]) -> list[float]:
    found = next((metrics[name] for name in _TIMES if name in metrics), [])
    return [value for value in found if math.isfinite(value) and value >= 0]


def _at(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1 if share * len(ordered) >= 1 else 0)]
