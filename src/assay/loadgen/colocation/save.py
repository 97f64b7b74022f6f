from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Literal

from assay.loadgen.colocation.colocation import GroupOutcome, PipelineOutcome
from assay.loadgen.recording.decision_rows import decision_rows
from assay.loadgen.recording.event_file import write_events
from assay.loadgen.recording.spool import read_rows
from assay.loadgen.recording.trace_file import TraceTrack, write_trace
from assay.record.writing.strict_json import encode
from assay.untrusted.writing import write_atomic

EventFormat = Literal["parquet", "csv", "none"]


def save_group(outcome: GroupOutcome, events: EventFormat = "parquet", trace: bool = False) -> None:
    """Beside each pipeline's logs: `result.json` and its events; one trace for all that ran together.

    What was measured is kept whatever is installed: without pyarrow events are CSV."""
    if events == "parquet" and find_spec("pyarrow") is None:
        events = "csv"
    tracks = []
    for pipeline in outcome.pipelines:
        names = {stage: times.name for stage, times in pipeline.result.stages.items()}
        raw = pipeline.folder / "events.rows"
        rows = read_rows(raw)
        decided = [decision for decision in outcome.decisions if decision.pipeline == pipeline.config.name]
        if events != "none":
            of_policy = decision_rows(decided, outcome.released_at)
            write_events(rows, names, pipeline.folder / f"events.{events}", of_policy)
        tracks.append(TraceTrack(pipeline.config.name, rows, names, decided))
        write_atomic(pipeline.folder / "result.json", encode(pipeline_json(pipeline), indent=2))
    if trace and tracks:
        write_trace(tracks, outcome.pipelines[0].folder.parent / "trace.json", outcome.released_at)
    for pipeline in outcome.pipelines:
        (pipeline.folder / "events.rows").unlink()


def pipeline_json(pipeline: PipelineOutcome) -> dict[str, Any]:
    return {
        "pipeline": pipeline.config.name,
        "process_cpu_s": pipeline.cpu_s,
        "process_peak_rss_mb": pipeline.peak_rss_mb,
        "paused_s": pipeline.paused_s,
        **({} if pipeline.gpu is None else {"gpu": pipeline.gpu.to_json()}),
        **pipeline.result.to_json(),
    }
