from __future__ import annotations

from typing import Any

import numpy as np

from assay.loadgen.board import OK
from assay.loadgen.colocation.colocation import PipelineOutcome
from assay.loadgen.colocation.kept.binned import edges, figures, histogram
from assay.loadgen.colocation.kept.lanes import lanes
from assay.loadgen.colocation.kept.series import series
from assay.loadgen.colocation.overlap import Overlap
from assay.loadgen.colocation.running.colocated_run import ColocatedRun
from assay.loadgen.colocation.save import pipeline_json
from assay.loadgen.colocation.slowdown.answers import Answers
from assay.loadgen.measured import Ints


def run_json(run: ColocatedRun) -> dict[str, Any]:
    overlap = Overlap(run.outcome)
    pipelines = run.outcome.pipelines
    return {
        "label": run.label,
        "round": run.round,
        "members": [pipeline.config.name for pipeline in pipelines],
        "alone": len(pipelines) == 1,
        "overlap": {
            "begin_t": overlap.begin,
            "end_t": overlap.end,
            "seconds": overlap.seconds,
            "share": {pipeline.config.name: overlap.share(pipeline) for pipeline in pipelines},
        },
        "warnings": [*([run.outcome.problem] if run.outcome.problem else []), *overlap.warnings],
        "decisions": [decision.to_json() for decision in run.outcome.decisions],
        "pipelines": [_pipeline(pipeline, overlap) for pipeline in pipelines],
    }


def _pipeline(pipeline: PipelineOutcome, overlap: Overlap) -> dict[str, Any]:
    written = pipeline_json(pipeline)
    begin, end = overlap.span(pipeline)
    return {
        **written,
        "span": {"begin_t": begin, "end_t": end},
        "window": window_json(pipeline, overlap.outcome.window),
        "stages": [{**stage, **_stage(pipeline, stage["id"], overlap.outcome.window)} for stage in written["stages"]],
        "series": series(pipeline, overlap.release),
        "lanes": lanes(pipeline, overlap.release),
    }


def window_json(pipeline: PipelineOutcome, window: tuple[int, int]) -> dict[str, Any]:
    """Answers that came in the window, and latencies of its queries."""
    answers = Answers.of(pipeline)
    begin, end = (time - answers.started_at for time in window)
    seconds = max(end - begin, 0) / 1e9
    completed = int(((answers.ends >= begin) & (answers.ends < end)).sum())
    asked = answers.in_window(begin, end)
    latency = np.asarray(asked["end"] - asked["intended"])
    return {
        "seconds": seconds,
        "throughput": completed / seconds if seconds else None,
        "completed": completed,
        **figures(latency),
        "histogram": histogram(latency, edges(latency)),
    }


def stage_window(pipeline: PipelineOutcome, stage: int, window: tuple[int, int]) -> Ints:
    """Times of the calls that began in the window, in nanoseconds."""
    rows = pipeline.result.measured.rows
    rows = rows[(rows["stage"] == stage) & (rows["status"] == OK)]
    rows = rows[(rows["start"] >= window[0]) & (rows["start"] < window[1])]
    return np.asarray(rows["end"] - rows["start"])


def _stage(pipeline: PipelineOutcome, stage: int, window: tuple[int, int]) -> dict[str, Any]:
    times = stage_window(pipeline, stage, window)
    return {"window": {"calls": len(times), **figures(times)}, "histogram": histogram(times, edges(times))}
