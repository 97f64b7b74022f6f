"""Colocated runs as metrics and tasks of a benchmark program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from assay.loadgen.colocation.colocation import GroupOutcome, Matrix, PipelineOutcome, folder_name
from assay.loadgen.colocation.overlap import Overlap
from assay.loadgen.colocation.rate_search import RatesTried
from assay.loadgen.colocation.result_files import stage_window
from assay.loadgen.colocation.slowdown import Contrast
from assay.loadgen.load_result import Ints, LoadResult, StageTimes
from assay.record.benchmark import Benchmark
from assay.record.metric import Metric
from assay.record.task import STANDS_FOR, TaskPerf


def stage_metrics(pipeline: str, result: LoadResult) -> Iterator[Metric]:
    """What stages say of their own work, as `pipeline.stage.figure`; stages of the same name are told apart by id."""
    words = {id: _word(stage.name) for id, stage in result.stages.items()}
    often = Counter(words.values())
    for id, report in result.reports.items():
        word = words[id] if words[id] and often[words[id]] == 1 else f"{words[id] or 'stage'}-{id}"
        yield from (replace(metric, name=f"{pipeline}.{word}.{metric.name}") for metric in report.metrics)


def _word(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name).strip("-")


MOST_SAMPLES = 2000


def group_metrics(b: Benchmark, outcome: GroupOutcome) -> None:
    """Figures of each pipeline's whole run."""
    for pipeline in outcome.pipelines:
        name = folder_name(pipeline.config.name)
        _pipeline(b, name, pipeline)
        if outcome.policy is not None:
            b.metric(f"{name}.paused_s", pipeline.paused_s, unit="s")


def overlap_metrics(b: Benchmark, outcome: GroupOutcome) -> None:
    overlap = Overlap(outcome)
    b.metric("overlap_s", overlap.seconds, unit="s")
    for pipeline in outcome.pipelines:
        name = folder_name(pipeline.config.name)
        b.metric(f"{name}.overlap_share", overlap.share(pipeline))
        times = {stage: stage_window(pipeline, stage, outcome.window) for stage in pipeline.result.stages}
        b.add_tasks(_tasks(name, pipeline.result.stages, times))


def matrix_metrics(b: Benchmark, matrix: Matrix) -> None:
    """Each pipeline's run alone, and what it did beside the others with the slowdown of it."""
    for rounds in matrix.solo.values():
        if rounds:
            group_metrics(b, rounds[-1])
            [alone] = rounds[-1].pipelines
            times = {stage: alone.result.measured.stage(stage) for stage in alone.result.stages}
            b.add_tasks(_tasks(f"{folder_name(alone.config.name)} alone", alone.result.stages, times))
    for contrast in matrix.contrasts:
        _contrast(b, contrast)


def rate_metrics(b: Benchmark, search: RatesTried) -> None:
    name = folder_name(search.pipeline)
    rows = []
    for trial in search.trials:
        result, sent = trial.outcome.pipeline.result, trial.outcome.sent
        if result.completed:
            times = {f"{share}_s": result.latency[share] / 1e9 for share in ("p50", "p90", "p99", "p99.9")}
            rates = {"rate": trial.rate, "offered": sent.offered, "sent": sent.sent, "throughput": result.throughput}
            rows.append({**rates, "goodput": result.verdict.goodput, **times, "valid": trial.valid})
    b.metric(f"{name}.rates", rows)
    if search.peak is not None and search.peak.rate is not None:
        b.metric(f"{name}.peak_rate", search.peak.rate, unit="1/s", better="higher")
        b.metric(f"{name}.peak_bounded", search.peak.bounded)


def _pipeline(b: Benchmark, name: str, pipeline: PipelineOutcome) -> None:
    result = pipeline.result
    b.metric(f"{name}.throughput", result.throughput, unit="1/s", better="higher")
    b.metric(f"{name}.goodput", result.verdict.goodput, unit="1/s", better="higher")
    b.metric(f"{name}.valid", result.verdict.valid)
    for share in ("p50", "p99", "p99.9"):
        b.metric(f"{name}.{share}_s", result.latency[share] / 1e9, unit="s", better="lower")
    b.metric(f"{name}.latency_s", unit="s", better="lower", samples=_thin(result.measured.latency))
    b.metric(f"{name}.lateness_p50_s", result.lateness["p50"] / 1e9, unit="s", better="lower")
    if result.first_result is not None:
        b.metric(f"{name}.first_result_p99_s", result.first_result["p99"] / 1e9, unit="s", better="lower")
    for count in ("sent", "completed", "failed", "held_back", "dropped_events"):
        b.metric(f"{name}.{count}", getattr(result, count))
    b.metric(f"{name}.cpu_s", result.cpu_s, unit="s", better="lower")
    b.metric(f"{name}.peak_rss_mb", pipeline.peak_rss_mb, unit="MB", better="lower")
    _gpu(b, name, pipeline)
    for metric in stage_metrics(name, result):
        b.add_metric(metric)


def _gpu(b: Benchmark, name: str, pipeline: PipelineOutcome) -> None:
    """Metrics of GPU usage; what the GPU does not tell is left out."""
    if pipeline.gpu is None:
        return
    units = {
        "mean_pct": "%",
        "peak_memory_mb": "MB",
        "mean_power_w": "W",
        "energy_j": "J",
        "joules_per_query": "J",
        "joules_per_token": "J",
        "joules_per_sample": "J",
    }
    for key, unit in units.items():
        value = getattr(pipeline.gpu, key)
        if value is not None:
            b.metric(f"{name}.gpu_{key}", value, unit=unit, better=None if key == "mean_pct" else "lower")


def _contrast(b: Benchmark, contrast: Contrast) -> None:
    """Metrics of a contrast. A figure that could not be had is left out: a requirement on it then fails as missing."""
    name = folder_name(contrast.pipeline)
    beside = "+".join(folder_name(other) for other in contrast.beside)
    for slowdown in contrast.slowdowns:
        interval, together = slowdown.interval, slowdown.beside
        if slowdown.stage is not None or interval is None or together is None:
            continue
        if slowdown.what == "throughput":
            b.metric(f"{name}.beside.{beside}.throughput", 1e9 / together, unit="1/s", better="higher")
        else:
            b.metric(f"{name}.beside.{beside}.{slowdown.what}_s", together / 1e9, unit="s", better="lower")
        key = f"slowdown.{name}.beside.{beside}.{slowdown.what}"
        b.metric(key, interval.estimate, better="lower")
        b.metric(f"{key}.low", interval.low)
        b.metric(f"{key}.high", interval.high)
    if contrast.rounds:
        stages = contrast.rounds[0].beside.result.stages
        times = {stage: beside_times for stage, (_, beside_times) in contrast.stages.items()}
        b.add_tasks(_tasks(f"{name} beside {beside}", stages, times))


def _thin(latency: Ints) -> list[float]:
    """Every n-th query, in order: enough for a histogram, little enough for a file that is kept for ever."""
    step = max(1, len(latency) // MOST_SAMPLES)
    return [float(f"{ns / 1e9:.5g}") for ns in latency[::step]]


def _tasks(pipeline: str, stages: Mapping[int, StageTimes], times: Mapping[int, Ints]) -> Iterator[TaskPerf]:
    """One task for each call; of very many calls every n-th, which says for how many it stands."""
    names = [stage.name for stage in stages.values()]
    for stage, spent in times.items():
        name = stages[stage].name
        label = f"{pipeline}/{name}" if names.count(name) == 1 else f"{pipeline}/{stage} {name}"
        kept = spent[:: -(-len(spent) // MOST_SAMPLES) or 1].tolist()
        standing = {STANDS_FOR: len(spent) / len(kept)} if len(kept) < len(spent) else {}
        for ns in kept:
            yield TaskPerf(label, {"process_time": ns / 1e9, **standing})
