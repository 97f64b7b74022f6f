from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from assay.files.json_text import encode
from assay.files.writing import write_atomic
from assay.loadgen.colocation.build_components import build_scheduler
from assay.loadgen.colocation.colocation import ColocatedRun, GroupOutcome, PipelineOutcome
from assay.loadgen.colocation.colocation_config import ColocationConfig, PipelineConfig
from assay.loadgen.colocation.overlap import Overlap
from assay.loadgen.colocation.round_ratio import Answers, Floats
from assay.loadgen.colocation.slowdown import CONFIDENCE, Contrast, Slowdown
from assay.loadgen.load_result import Ints
from assay.loadgen.shared_counters import OK
from assay.loadgen.trace_file import TraceTrack, decision_rows, read_rows, write_events, write_trace
from assay.record import COLOCATION_FILE

if TYPE_CHECKING:
    from assay.loadgen.colocation.rate_search import RatesTried


MOST_BINS = 60
_A_DECADE = 20
"""Bins for each factor of ten, as long as they are not more than the most."""


def edges(*samples: Ints) -> Floats:
    """Edges of bins, in nanoseconds, equally wide on a logarithmic scale, that hold all values of all samples."""
    values = np.concatenate([np.empty(0, np.int64), *samples])
    if not len(values):
        return np.empty(0)
    low, high = np.log10(max(int(values.min()), 1)), np.log10(max(int(values.max()), 1) * 1.0001 + 1)
    bins = int(np.clip(np.ceil((high - low) * _A_DECADE), 1, MOST_BINS))
    return np.logspace(low, high, bins + 1)


def histogram(values: Ints, at: Floats) -> dict[str, Any] | None:
    if not len(values) or not len(at):
        return None
    counts, _ = np.histogram(np.maximum(values, 1), np.concatenate([[0.0], at[1:-1], [np.inf]]))
    return {"edges_us": [float(f"{edge / 1e3:.6g}") for edge in at], "counts": counts.tolist()}


def figures(values: Ints, shares: tuple[str, ...] = ("p50", "p99")) -> dict[str, float | None]:
    """Mean and percentiles in microseconds; None where nothing was measured."""
    names = {name: float(name[1:]) / 100 for name in shares}
    if not len(values):
        return {"mean_us": None, **{f"{name}_us": None for name in names}}
    found = np.quantile(values, list(names.values()), method="inverted_cdf")
    times = zip(names, found.tolist(), strict=True)
    return {"mean_us": float(values.mean()) / 1e3, **{f"{name}_us": float(value) / 1e3 for name, value in times}}


def cells_json(contrast: Contrast) -> list[dict[str, Any]]:
    return [_cell(contrast, slowdown) for slowdown in contrast.slowdowns]


def _cell(contrast: Contrast, slowdown: Slowdown) -> dict[str, Any]:
    interval = slowdown.interval
    alone, beside = contrast.latencies if slowdown.stage is None else contrast.stages[slowdown.stage]
    return {
        "pipeline": contrast.pipeline,
        "beside": list(contrast.beside),
        "what": slowdown.what,
        "stage": slowdown.stage,
        "estimate": None if interval is None else interval.estimate,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "confidence": CONFIDENCE,
        "slower": slowdown.slower,
        "alone": _value(slowdown, slowdown.alone),
        "together": _value(slowdown, slowdown.beside),
        "unit": "1/s" if slowdown.what == "throughput" else "us",
        "seconds": contrast.seconds,
        "rounds": len(contrast.rounds),
        "queries_alone": len(alone),
        "queries_beside": len(beside),
        "reason": slowdown.reason,
    }


def _value(slowdown: Slowdown, ns: float | None) -> float | None:
    """The figure as people read it: answers a second for throughput, microseconds for times."""
    if ns is None:
        return None
    return 1e9 / ns if slowdown.what == "throughput" else ns / 1e3


def contrast_json(contrast: Contrast) -> dict[str, Any]:
    """A contrast with both sides over the same window, on the same bins."""
    common = edges(*contrast.latencies)
    bins = {stage: edges(*times) for stage, times in contrast.stages.items()}
    return {
        "pipeline": contrast.pipeline,
        "beside": list(contrast.beside),
        "rounds": len(contrast.rounds),
        "paired": contrast.paired,
        "reason": contrast.problem,
        "windows": [
            {"alone": _times(one.window_alone), "together": _times(one.window_beside)} for one in contrast.rounds
        ],
        **{
            name: {"latency": _side(contrast.latencies[side], common), "stages": _stages(contrast, side, bins)}
            for side, name in enumerate(("alone", "together"))
        },
    }


def _times(window: tuple[float, float]) -> dict[str, float]:
    return {"begin_t": window[0] / 1e9, "end_t": window[1] / 1e9}


def _side(values: Ints, at: Floats) -> dict[str, Any]:
    return {"count": len(values), **figures(values), "histogram": histogram(values, at)}


def _stages(contrast: Contrast, side: int, bins: dict[int, Floats]) -> list[dict[str, Any]]:
    total = sum(int(times[side].sum()) for times in contrast.stages.values()) or 1
    names = contrast.rounds[0].beside.result.stages if contrast.rounds else {}
    return [
        {
            "id": stage,
            "name": names[stage].name,
            "share": int(times[side].sum()) / total,
            **_side(times[side], bins[stage]),
        }
        for stage, times in contrast.stages.items()
    ]


MOST_LANES = 400

Lane = tuple[int, float, float, int, float]
"""Stage, begin and end in seconds from the release, calls, and seconds in which a call was under way."""


def lanes(pipeline: PipelineOutcome, release: int) -> list[Lane]:
    """When each stage was busy, for drawing: spans with little time between them are one."""
    rows = pipeline.result.measured.rows
    spans = []
    for stage in pipeline.result.stages:
        calls = rows[rows["stage"] == stage]
        calls = calls[np.argsort(calls["start"], kind="stable")]
        if len(calls):
            spans.append((stage, np.asarray(calls["start"]), np.asarray(calls["end"])))
    if not spans:
        return []
    gap = max((int(ends.max()) for _, _, ends in spans)) - min(int(starts[0]) for _, starts, _ in spans)
    gap //= 1 << 20
    while sum(_count(starts, ends, gap) for _, starts, ends in spans) > max(MOST_LANES, len(spans)):
        gap = 2 * gap + 1
    return [lane for stage, starts, ends in spans for lane in _merge(stage, starts, ends, gap, release)]


def _furthest_ends(ends: Ints) -> Ints:
    return np.asarray(np.maximum.accumulate(ends))


def _count(starts: Ints, ends: Ints, gap: int) -> int:
    return 1 + int((starts[1:] > _furthest_ends(ends)[:-1] + gap).sum())


def _merge(stage: int, starts: Ints, ends: Ints, gap: int, release: int) -> Sequence[Lane]:
    reached = _furthest_ends(ends)
    first = np.concatenate([[0], 1 + np.flatnonzero(starts[1:] > reached[:-1] + gap)])
    last = np.concatenate([first[1:], [len(starts)]]) - 1
    # Time that a call adds to what earlier calls have covered.
    before = np.concatenate([[np.iinfo(np.int64).min], reached[:-1]])
    busy = np.cumsum(np.maximum(reached - np.maximum(starts, before), 0))
    busy_of = busy[last] - np.concatenate([[0], busy[last[:-1]]])
    return [
        (stage, _t(starts[a], release), _t(reached[b], release), int(b - a + 1), round(int(spent) / 1e9, 6))
        for a, b, spent in zip(first, last, busy_of, strict=True)
    ]


def _t(clock: int, release: int) -> float:
    return round((int(clock) - release) / 1e9, 6)


MOST_POINTS = 120
_ANSWERS_A_POINT = 5
"""Fewest answers in a point, on the average: a rate of fewer is noise."""


def series(pipeline: PipelineOutcome, release: int) -> dict[str, list[Any]]:
    """Throughput, latency and queries in flight over the whole run, at the ends of equal steps of time."""
    queries = pipeline.result.measured.queries
    ends = np.asarray(queries["end"])
    points = int(np.clip(len(ends) // _ANSWERS_A_POINT, 1, MOST_POINTS))
    if not len(ends):
        return {name: [] for name in ("t", "throughput", "p50_us", "p99_us", "in_flight")}
    at = np.linspace(pipeline.result.started_at, int(ends[-1]), points + 1)
    cuts = np.searchsorted(ends, at, side="right")
    cuts[0] = 0
    latency = np.asarray(queries["end"] - queries["intended"])
    parts = [latency[a:b] for a, b in pairwise(cuts.tolist())]
    seconds = max(float(at[1] - at[0]) / 1e9, 1e-9)
    return {
        "t": [round((float(time) - release) / 1e9, 6) for time in at[1:]],
        "throughput": [float(f"{len(part) / seconds:.6g}") for part in parts],
        "p50_us": [_at(part, 0.5) for part in parts],
        "p99_us": [_at(part, 0.99) for part in parts],
        "in_flight": _in_flight(np.sort(queries["start"]), ends, at[1:].astype(np.int64)).tolist(),
    }


def _in_flight(starts: Ints, ends: Ints, at: Ints) -> Ints:
    """Queries in flight at each time, counting only those that were answered later."""
    return np.asarray(np.searchsorted(starts, at, side="right") - np.searchsorted(ends, at, side="right"))


def _at(values: Ints, share: float) -> float | None:
    if not len(values):
        return None
    return float(f"{float(np.quantile(values, share, method='inverted_cdf')) / 1e3:.6g}")


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
        "pipelines": [_outcome_json(pipeline, overlap) for pipeline in pipelines],
    }


def _outcome_json(pipeline: PipelineOutcome, overlap: Overlap) -> dict[str, Any]:
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


VERSION = 2
FILE_NAME = COLOCATION_FILE

Kind = Literal["together", "matrix", "rates"]


def write_colocation(
    folder: Path,
    config: ColocationConfig,
    kind: Kind,
    runs: Sequence[ColocatedRun],
    contrasts: Sequence[Contrast] = (),
    rates: RatesTried | None = None,
) -> None:
    written = {
        "version": VERSION,
        "name": config.name,
        "kind": kind,
        "policy": None if config.policy is None else config.policy.component,
        "pipelines": [_pipeline(pipeline) for pipeline in config.pipelines],
        "runs": [run_json(run) for run in runs],
        "cells": [cell for contrast in contrasts for cell in cells_json(contrast)],
        "contrasts": [contrast_json(contrast) for contrast in contrasts],
        "rates": None if rates is None else rates.to_json(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / FILE_NAME, encode(_finite(written)))


def _pipeline(pipeline: PipelineConfig) -> dict[str, Any]:
    scheduler = build_scheduler(pipeline)
    return {
        "name": pipeline.name,
        "loop": "open" if scheduler.concurrency is None else "closed",
        "asked_rate": scheduler.rate,
        "until": pipeline.until,
        "objectives": [objective.model_dump(mode="json") for objective in pipeline.objectives],
        "stages": [
            {"id": stage.id, "name": stage.name or stage.component.rpartition(".")[2]} for stage in pipeline.stages
        ],
    }


def _finite(value: Any) -> Any:
    """The value with null for what was not measured: readers of other languages know no NaN."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
