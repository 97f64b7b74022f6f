from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.record import TaskPerf, TaskPerfUtils

_TIMES = ("process_time", "wall_time", "duration", "cpu_time")


@dataclass(frozen=True)
class StageTime:
    name: str
    calls: int
    seconds: float
    share: float
    """Of the time of all stages of its pipeline."""
    p50_s: float
    p95_s: float


@dataclass(frozen=True)
class PipelineStages:
    """Where one pipeline's time went."""

    pipeline: str
    """Empty where there is only one, which has no name."""
    stages: tuple[StageTime, ...]
    """In the order they first ran."""


def stage_breakdown(tasks: Sequence[TaskPerf]) -> tuple[PipelineStages, ...]:
    """Pipelines that ran beside each other name their stages `pipeline/stage`: each has a whole of its own."""
    timed = {stage: _times(metrics) for stage, metrics in TaskPerfUtils.collect_stage_metrics(tasks).items()}
    timed = {stage: values for stage, values in timed.items() if values}
    by_pipeline: dict[str, dict[str, list[float]]] = {}
    named = all("/" in stage for stage in timed)
    for stage, values in timed.items():
        pipeline, _, name = stage.partition("/") if named else ("", "", stage)
        by_pipeline.setdefault(pipeline, {})[name] = values
    parts = (PipelineStages(pipeline, _stage_times(stages)) for pipeline, stages in by_pipeline.items())
    return tuple(part for part in parts if part.stages)


def _stage_times(timed: Mapping[str, list[float]]) -> tuple[StageTime, ...]:
    total = math.fsum(math.fsum(values) for values in timed.values())
    if not total > 0:
        return ()
    return tuple(
        StageTime(stage, len(values), math.fsum(values), math.fsum(values) / total, _at(values, 0.5), _at(values, 0.95))
        for stage, values in timed.items()
    )


def _times(metrics: dict[str, list[float]]) -> list[float]:
    found = next((metrics[name] for name in _TIMES if name in metrics), [])
    return [value for value in found if math.isfinite(value) and value >= 0]


def _at(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1 if share * len(ordered) >= 1 else 0)]
