"""Pipelines under load, alone or beside each other, as an entry of a session.

    script: colocation_benchmark.py
    args: --config pipelines.yml [--matrix] [--repeat 3] [--pipelines a,b]

Metrics of a pipeline are prefixed with its name: `api.throughput`, `api.p99_s`; those of the matrix with
`slowdown.api.beside.batch.throughput`. The pipelines' files are beside the metrics.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import assay
from assay.benchmarks.stage_metrics import stage_metrics
from assay.errors import AssayError, UsageError
from assay.loadgen.colocation.colocation import Colocation, GroupOutcome, PipelineOutcome, folder_name
from assay.loadgen.colocation.config import ColocationConfig
from assay.loadgen.colocation.matrix import Matrix, pairs, run_matrix
from assay.loadgen.colocation.progress import Progress
from assay.loadgen.colocation.read import read_config
from assay.loadgen.colocation.save import save_group
from assay.loadgen.colocation.tables import group_table, matrix_table, stage_table
from assay.loadgen.measured import Ints
from assay.names import unknown
from assay.record.benchmark import Benchmark
from assay.record.task_perf import TaskPerf

MOST_SAMPLES = 2000


def main() -> int:
    try:
        with assay.benchmark() as b, TemporaryDirectory() as temporary:
            return _measure(b, b.results_path or Path(temporary))
    except AssayError as error:
        print(f"colocation_benchmark: {error}", file=sys.stderr)
        return error.exit_code


def _measure(b: Benchmark, folder: Path) -> int:
    path = b.param("config", "")
    if not path:
        raise UsageError("--config FILE is missing: which pipelines?")
    config = _chosen(read_config(Path(path)), b.param("pipelines", ""))
    matrix, repeat = b.param("matrix", False), b.param("repeat", 1)
    b.params(name=config.name, loads=[pipeline.loadgen.model_dump(mode="json") for pipeline in config.pipelines])
    colocation = Colocation(config, folder / "colocation", _show_progress)
    if matrix:
        done = run_matrix(colocation, config, pairs(config), repeat)
        groups = [outcome for rounds in [*done.solo.values(), *done.together.values()] for outcome in rounds]
        _slowdowns(b, done)
        print(matrix_table(done))
        _pipelines(b, [rounds[-1] for rounds in done.solo.values() if rounds])
    else:
        groups = [colocation.run(config.pipelines, "together")]
        print(group_table(groups[0]), stage_table(groups[0]), sep="\n\n")
        _pipelines(b, groups)
    for outcome in groups:
        save_group(outcome)
    bad = [p for outcome in groups for p in outcome.pipelines if not p.result.ending.success]
    for pipeline in bad:
        print(f"colocation_benchmark: {pipeline.config.name}: {pipeline.result.ending.reason}", file=sys.stderr)
    b.metric("is_success", not bad)
    return 1 if bad else 0


def _chosen(config: ColocationConfig, words: str) -> ColocationConfig:
    if not words:
        return config
    names = [word.strip() for word in words.split(",")]
    known = [pipeline.name for pipeline in config.pipelines]
    for name in names:
        if name not in known:
            raise UsageError(f"--pipelines: {unknown('pipeline', name, known)}")
    return config.model_copy(update={"pipelines": tuple(config.pipeline(name) for name in names)})


def _pipelines(b: Benchmark, groups: Sequence[GroupOutcome]) -> None:
    for outcome in groups:
        for pipeline in outcome.pipelines:
            name, result = folder_name(pipeline.config.name), pipeline.result
            b.metric(f"{name}.throughput", result.throughput, unit="1/s", better="higher")
            b.metric(f"{name}.goodput", result.verdict.goodput, unit="1/s", better="higher")
            b.metric(f"{name}.valid", result.verdict.valid)
            for share in ("p50", "p99", "p99.9"):
                b.metric(f"{name}.{share}_s", result.latency[share] / 1e9, unit="s", better="lower")
            b.metric(f"{name}.latency_s", unit="s", better="lower", samples=_thinned(result.measured.latency))
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
            b.add_tasks(
                TaskPerf(f"{name}/{stage.name}", {"process_time": stage.latency.mean / 1e9})
                for stage in result.stages.values()
                if stage.latency.count
            )


def _gpu(b: Benchmark, name: str, pipeline: PipelineOutcome) -> None:
    """What the GPU does not tell is left out."""
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


def _thinned(latency: Ints) -> list[float]:
    """Every n-th query, in order: enough for a histogram, little enough for a file that is kept for ever."""
    step = max(1, len(latency) // MOST_SAMPLES)
    return [float(f"{ns / 1e9:.5g}") for ns in latency[::step]]


def _slowdowns(b: Benchmark, matrix: Matrix) -> None:
    for (name, group), cell in matrix.cells.items():
        beside = "+".join(folder_name(other) for other in group if other != name)
        for what, interval in (("throughput", cell.throughput), ("p99", cell.p99)):
            key = f"slowdown.{folder_name(name)}.beside.{beside}.{what}"
            b.metric(key, interval.estimate, better="lower")
            b.metric(f"{key}.low", interval.low)
            b.metric(f"{key}.high", interval.high)


def _show_progress(progress: Sequence[Progress]) -> None:
    for line in progress:
        print(line, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
