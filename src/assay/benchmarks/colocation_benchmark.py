"""Pipelines under load, alone or beside each other, as an entry of a session.

    script: colocation_benchmark.py
    args: --config pipelines.yml [--matrix [--no-diagonal] [--repeat 3]] [--pipelines a,b]
    args: --config pipelines.yml --sweep api=50,100,200
    args: --config pipelines.yml --find-peak api

Metrics of a pipeline's whole run are prefixed with its name: `api.throughput`, `api.p99_s`; with `--matrix` that is its
run alone, `api.beside.batch.throughput` is of its time beside another and `slowdown.api.beside.batch.throughput` says
what that came to. `api.rates` are the rows of a sweep. `colocation.json` and the pipelines' files lie beside them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import assay
from assay.benchmarks.benchmark_program import exit_code
from assay.benchmarks.colocation_metrics import group_metrics, matrix_metrics, overlap_metrics, rate_metrics
from assay.errors import UsageError
from assay.loadgen.colocation.colocation import ColocatedRun, Colocation, Group, pairs, run_matrix
from assay.loadgen.colocation.colocation_config import ColocationConfig
from assay.loadgen.colocation.pipeline_worker import PipelineProgress
from assay.loadgen.colocation.rate_search import search_rates
from assay.loadgen.colocation.read_config import read_config
from assay.loadgen.colocation.result_files import save_group, write_colocation
from assay.loadgen.colocation.tables import matrix_text, rate_text, run_text
from assay.names import unknown
from assay.record.benchmark import Benchmark

Done = tuple[Sequence[ColocatedRun], bool]
"""The runs, and whether all of it went well."""


def main() -> int:
    def measure() -> int:
        with assay.benchmark() as b, TemporaryDirectory() as temporary:
            return _measure(b, b.results_path or Path(temporary))

    return exit_code("colocation_benchmark", measure)


def _measure(b: Benchmark, folder: Path) -> int:
    path = b.param("config", "")
    if not path:
        raise UsageError("--config FILE is missing: which pipelines?")
    config = _choose(read_config(Path(path)), b.param("pipelines", ""))
    b.params(name=config.name, loads=[pipeline.loadgen.model_dump(mode="json") for pipeline in config.pipelines])
    matrix, repeat = b.param("matrix", False), b.param("repeat", 1)
    diagonal, swept, sought = not b.param("no_diagonal", False), b.param("sweep", ""), b.param("find_peak", "")
    if repeat < 1:
        raise UsageError("--repeat must be at least 1")
    if sum(map(bool, (matrix, swept, sought))) > 1:
        raise UsageError("give one of --matrix, --sweep and --find-peak")
    colocation = Colocation(config, folder / "colocation", _show_progress)
    if swept or sought:
        runs, success = _rates(b, colocation, config, folder, swept, sought)
    elif matrix:
        runs, success = _matrix(b, colocation, config, folder, pairs(config, diagonal), repeat)
    else:
        runs, success = _together(b, colocation, config, folder)
    for run in runs:
        if run.outcome.problem:
            print(f"colocation_benchmark: {run.outcome.problem}", file=sys.stderr)
        for pipeline in run.outcome.pipelines:
            if not pipeline.result.ending.success:
                reason = pipeline.result.ending.reason
                print(f"colocation_benchmark: {pipeline.config.name}: {reason}", file=sys.stderr)
    b.metric("is_success", success)
    return 0 if success else 1


def _together(b: Benchmark, colocation: Colocation, config: ColocationConfig, folder: Path) -> Done:
    outcome = colocation.run(config.pipelines, "together")
    save_group(outcome)
    runs = [ColocatedRun("together", outcome)]
    write_colocation(folder, config, "together", runs)
    print(run_text(outcome))
    group_metrics(b, outcome)
    overlap_metrics(b, outcome)
    return runs, outcome.success


def _matrix(
    b: Benchmark, colocation: Colocation, config: ColocationConfig, folder: Path, groups: Sequence[Group], repeat: int
) -> Done:
    matrix = run_matrix(colocation, config, groups, repeat, save_group)
    write_colocation(folder, config, "matrix", matrix.runs, matrix.contrasts)
    print(matrix_text(matrix))
    matrix_metrics(b, matrix)
    return matrix.runs, matrix.success


def _rates(
    b: Benchmark, colocation: Colocation, config: ColocationConfig, folder: Path, swept: str, sought: str
) -> Done:
    search = search_rates(colocation, config, swept or sought, peak=not swept)
    write_colocation(folder, config, "rates", search.runs, rates=search)
    print(rate_text(search))
    rate_metrics(b, search)
    return search.runs, search.success


def _choose(config: ColocationConfig, words: str) -> ColocationConfig:
    if not words:
        return config
    names = [word.strip() for word in words.split(",")]
    known = [pipeline.name for pipeline in config.pipelines]
    for name in names:
        if name not in known:
            raise UsageError(f"--pipelines: {unknown('pipeline', name, known)}")
    return config.model_copy(update={"pipelines": tuple(config.pipeline(name) for name in names)})


def _show_progress(progress: Sequence[PipelineProgress]) -> None:
    for line in progress:
        print(line, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
