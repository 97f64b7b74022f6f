from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from assay.loadgen.colocation.colocation import GroupOutcome, PipelineOutcome
from assay.loadgen.colocation.matrix import Matrix
from assay.loadgen.latency.peak import Peak, Trial
from assay.loadgen.recording.event_file import write_events
from assay.loadgen.recording.spool import read_rows
from assay.loadgen.recording.trace_file import Track, write_trace
from assay.record.atomic_file import write_atomic
from assay.record.strict_json import encode
from assay.stats.intervals import Interval

EventFormat = Literal["parquet", "csv", "none"]


def save_group(outcome: GroupOutcome, events: EventFormat = "parquet", trace: bool = False) -> None:
    """Beside each pipeline's logs: `result.json` and its events; one trace for all that ran together."""
    tracks = []
    for pipeline in outcome.pipelines:
        names = {stage: times.name for stage, times in pipeline.result.stages.items()}
        raw = pipeline.folder / "events.rows"
        rows = read_rows(raw)
        if events != "none":
            write_events(rows, names, pipeline.folder / f"events.{events}")
        tracks.append(Track(pipeline.config.name, rows, names))
        write_atomic(pipeline.folder / "result.json", encode(pipeline_json(pipeline), indent=2))
    if trace and tracks:
        write_trace(tracks, outcome.pipelines[0].folder.parent / "trace.json")
    for pipeline in outcome.pipelines:
        (pipeline.folder / "events.rows").unlink()


def pipeline_json(pipeline: PipelineOutcome) -> dict[str, Any]:
    return {
        "pipeline": pipeline.config.name,
        "process_cpu_s": pipeline.cpu_s,
        "process_peak_rss_mb": pipeline.peak_rss_mb,
        **({} if pipeline.gpu is None else {"gpu": pipeline.gpu.to_json()}),
        **pipeline.result.to_json(),
    }


def group_json(outcome: GroupOutcome) -> dict[str, Any]:
    begin, end = outcome.window
    return {
        "together_s": max(end - begin, 0) / 1e9,
        "pipelines": [pipeline_json(pipeline) for pipeline in outcome.pipelines],
    }


def rates_json(
    name: str, trials: Sequence[Trial[PipelineOutcome]], peak: Peak[PipelineOutcome] | None = None
) -> dict[str, Any]:
    """One pipeline at several rates; with `peak`, the highest that was looked for."""
    found = {} if peak is None else {"peak": {"rate": peak.rate, "bounded": peak.bounded}}
    tried = [{"rate": one.rate, "valid": one.valid, "pipelines": [pipeline_json(one.outcome)]} for one in trials]
    return {"pipeline": name, **found, "trials": tried}


def matrix_json(matrix: Matrix) -> dict[str, Any]:
    return {
        "pipelines": list(matrix.names),
        "solo": {name: [group_json(outcome) for outcome in rounds] for name, rounds in matrix.solo.items()},
        "together": [
            {"group": list(group), "rounds": [group_json(outcome) for outcome in rounds]}
            for group, rounds in matrix.together.items()
        ],
        "slowdown": [
            {
                "pipeline": name,
                "group": list(group),
                "throughput": _interval(cell.throughput),
                "p99": _interval(cell.p99),
            }
            for (name, group), cell in matrix.cells.items()
        ],
    }


def _interval(interval: Interval) -> dict[str, float]:
    return {
        "estimate": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "confidence": interval.confidence,
    }
