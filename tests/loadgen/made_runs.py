"""Runs of pipelines as a test wants them: rows made by hand, no process. Times are milliseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.loadgen.colocation.colocation import GroupOutcome, PipelineOutcome
from assay.loadgen.colocation.colocation_config import PipelineConfig
from assay.loadgen.driver.ending import Ending, How
from assay.loadgen.latency import Latency, Validity
from assay.loadgen.load_result import LoadResult, Measured, StageTimes
from assay.loadgen.shared_counters import PIPELINE
from assay.loadgen.trace_file import DTYPE

MS = 1_000_000
Query = tuple[float, float]
"""When it was to be sent and when it was answered."""
Call = tuple[int, float, float]
"""Its query, its begin and its end."""


def pipeline(
    name: str,
    queries: Sequence[Query],
    calls: Mapping[int, Sequence[Call]] | None = None,
    *,
    open_loop: bool = False,
    started: float = 0.0,
    how: How = How.FINISHED,
) -> PipelineOutcome:
    """A run that was released at `started`; the times of queries and calls are from then on."""
    start = round(started * MS)
    rows = [_row(number, PIPELINE, start, *query) for number, query in enumerate(queries)]
    stages = calls or {}
    rows += [_row(query, stage, start, begin, end) for stage, made in stages.items() for query, begin, end in made]
    measured = Measured.of(np.array(rows, DTYPE) if rows else np.empty(0, DTYPE))
    last = max((end for _, end in queries), default=0.0)
    result = LoadResult(
        ending=Ending(how, "" if how is How.FINISHED else "it broke"),
        asked_rate=None,
        started_at=start,
        duration=last / 1e3,
        sent=len(queries),
        completed=len(queries),
        failed=0,
        achieved_rate=0.0,
        throughput=len(queries) / last * 1e3 if last else 0.0,
        latency=Latency.of(measured.latency),
        latency_from_send=Latency.of(measured.from_send),
        lateness=Latency.of(measured.lateness),
        stages={stage: StageTimes(f"s{stage}", Latency.of(measured.stage(stage)), 0.0) for stage in stages},
        first_result=None,
        per_item=None,
        group_latency=None,
        held_back=0,
        dropped_events=0,
        cut_cycles=0,
        ignored_branches=0,
        cpu_s=0.0,
        verdict=Validity((), (), 0.0),
        reports={},
        measured=measured,
    )
    return PipelineOutcome(_config(name, stages, open_loop), result, 0.0, 0.0, Path("nowhere"))


def group(*pipelines: PipelineOutcome, until: float | None = None) -> GroupOutcome:
    """Together from the last start to the first end, or `until` (milliseconds on the clock)."""
    begin = max(one.result.started_at for one in pipelines)
    ends = [one.result.started_at + round(one.result.duration * 1e9) for one in pipelines]
    return GroupOutcome(pipelines, (begin, min(ends) if until is None else round(until * MS)))


def one_after_the_other(costs: Sequence[float]) -> list[Query]:
    """A closed loop of one query at a time."""
    ends = np.cumsum(costs)
    return [(float(end - cost), float(end)) for end, cost in zip(ends, costs, strict=True)]


def _row(query: int, stage: int, start: int, begin: float, end: float) -> tuple[int, ...]:
    intended = start + round(begin * MS)
    return query, stage, intended, intended, start + round(end * MS), 0, 0, 0


def _config(name: str, stages: Mapping[int, Any], open_loop: bool) -> PipelineConfig:
    load = {"component": "poisson", "config": {"rate": 1}} if open_loop else {"component": "single_stream"}
    written = [{"id": stage, "component": "no_op"} for stage in stages] or [{"id": 0, "component": "no_op"}]
    return PipelineConfig.model_validate({"name": name, "loadgen": {**load, "max_queries": 1}, "stages": written})
