from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import fsum, isfinite

from assay.analysis.insights.insight import EntryRuns, Insight
from assay.analysis.insights.run_share import LEAST, wall_seconds
from assay.analysis.sentences import insight_sentences as said
from assay.record import TaskPerfUtils
from assay.record.task_perf import STANDS_FOR

SHARE = 0.5
_TIMES = ("process_time", "wall_time", "duration", "cpu_time")
_LABEL = re.compile(r"(?P<pipeline>.+?)(?P<alone> alone)?(?: beside .+)?", re.DOTALL)
"""How the runs of a matrix are labelled: `api alone`, `api beside batch`."""


@dataclass(frozen=True)
class _Stage:
    seconds: float
    calls: int


def bottleneck(entry: EntryRuns) -> Iterator[Insight]:
    """One stage takes more than half of the time of all stages, and enough of the run's to matter."""
    stages = _stages(entry)
    pipelines = _pipelines(stages)
    if "" not in pipelines:
        for pipeline, own in pipelines.items():
            yield from _in_pipeline(entry, pipeline, own)
        return
    slowest = _slowest(stages)
    if slowest is None:
        return
    seconds, everything = stages[slowest].seconds, _sum(stages)
    share, wall = seconds / everything, wall_seconds(entry)
    # Stages that ran at the same time add up to more than the clock: their sum is then all that is known of the whole.
    of_run = seconds / max(wall, everything)
    if of_run < LEAST:
        return
    # Amdahl: with this stage twice as fast, all of it would take so much less, what no stage accounts for included.
    gain = 1 / (1 - of_run / 2)
    text = said.slow_stage(
        slowest, share, len(stages), seconds=seconds, everything=everything, calls=stages[slowest].calls, wall=wall,
        gain=gain,
    )  # fmt: skip
    yield Insight(
        "bottleneck", entry.name, *text,
        numbers={"share": share, "seconds": seconds, "gain_if_twice_as_fast": gain},
    )  # fmt: skip


def _in_pipeline(entry: EntryRuns, pipeline: str, stages: Mapping[str, _Stage]) -> Iterator[Insight]:
    """The insight about one of several pipelines. Side by side they are no whole: the run's time is left out."""
    slowest = _slowest(stages)
    if slowest is None:
        return
    seconds, everything = stages[slowest].seconds, _sum(stages)
    share = seconds / everything
    yield Insight(
        "bottleneck", entry.name,
        *said.slow_stage_of_pipeline(
            pipeline, slowest, share, len(stages), seconds=seconds, everything=everything, calls=stages[slowest].calls
        ),
        numbers={"share": share, "seconds": seconds},
    )  # fmt: skip


def _slowest(stages: Mapping[str, _Stage]) -> str | None:
    """The stage that takes more than half, if there are others."""
    everything = _sum(stages)
    if len(stages) < 2 or everything <= 0:
        return None
    slowest = max(stages, key=lambda stage: stages[stage].seconds)
    return slowest if stages[slowest].seconds >= SHARE * everything else None


def _sum(stages: Mapping[str, _Stage]) -> float:
    return fsum(stage.seconds for stage in stages.values())


def _pipelines(stages: Mapping[str, _Stage]) -> dict[str, dict[str, _Stage]]:
    """Pipelines beside each other name their stages `pipeline/stage`. Of one that ran alone too, alone is taken."""
    if not all("/" in name for name in stages):
        return {"": dict(stages)}
    by_label: dict[str, dict[str, _Stage]] = {}
    for name, stage in stages.items():
        label, _, own = name.partition("/")
        by_label.setdefault(label, {})[own] = stage
    found: dict[str, dict[str, _Stage]] = {}
    for label, own_stages in by_label.items():
        named = _LABEL.fullmatch(label)
        pipeline = named["pipeline"] if named else label
        if pipeline not in found or (named and named["alone"]):
            found[pipeline] = own_stages
    return found if len(by_label) > 1 else {"": dict(stages)}


def _stages(entry: EntryRuns) -> dict[str, _Stage]:
    collected = TaskPerfUtils.collect_stage_metrics([task for run in entry.runs for task in run.tasks])
    found = {stage: _measure_stage(metrics) for stage, metrics in collected.items()}
    return {stage: measured for stage, measured in found.items() if measured.seconds > 0}


def _measure_stage(metrics: Mapping[str, list[float]]) -> _Stage:
    values = next((metrics[name] for name in _TIMES if name in metrics), [])
    standing = metrics.get(STANDS_FOR, [])
    weights = standing if len(standing) == len(values) else [1.0] * len(values)
    timed = [(v, n) for v, n in zip(values, weights, strict=True) if isfinite(v) and v > 0 and isfinite(n) and n > 0]
    return _Stage(fsum(v * n for v, n in timed), round(fsum(n for _, n in timed)))
