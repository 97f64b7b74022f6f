from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.benchmarks.exit_code import exit_code
from assay.pipeline import Pipeline, executor_named
from assay.pipeline.executors.registry import EXECUTORS
from assay.record.benchmark import Benchmark, benchmark
from assay.record.task_perf import TaskPerf
from assay.record.task_statistics import TaskPerfUtils


@dataclass
class TimedRun:
    """What pipelines of a benchmark gave back, one after the other, and how long each call of a stage took."""

    outputs: list[Any] = field(default_factory=list)
    tasks: list[TaskPerf] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, pipeline: Pipeline, args: Namespace) -> list[Any]:
        started = time.perf_counter()
        result = pipeline.run(executor_named(args.executor, workers=args.workers))
        self.seconds += time.perf_counter() - started
        # Those who curate with Ray have it as a step of its own in their records, done by a stage; here the driver does
        # it.
        partitioned = TaskPerf("file_partitioning", {"process_time": pipeline.partition_s})
        self.tasks += [partitioned, *result.tasks]
        self.outputs = result.outputs
        return result.outputs

    def rows(self, stage: str, which: str) -> int:
        return int(TaskPerfUtils.get_aggregated_stage_stat(self.tasks, stage, which))

    def report(self, results: Benchmark) -> None:
        """`time_taken` and, for each stage, `stage_<stage>_process_time_{mean,std,sum}`."""
        results.add_tasks(self.tasks)
        results.metric("time_taken", self.seconds, unit="s", better="lower")
        for stage, measured in TaskPerfUtils.collect_stage_metrics(self.tasks).items():
            name = f"stage_{stage}_process_time"
            statistics = TaskPerfUtils.aggregate_task_metrics(
                [TaskPerf("", {"t": t}) for t in measured["process_time"]]
            )
            for statistic in ("mean", "std", "sum"):
                results.metric(f"{name}_{statistic}", statistics[f"t_{statistic}"], unit="s", better="lower")
            if "cpu_time" in measured:
                results.metric(f"stage_{stage}_cpu_time_sum", sum(measured["cpu_time"]), unit="s", better="lower")


def add_common_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--benchmark-results-path",
        type=Path,
        required=True,
        help="folder for params.json, metrics.json, tasks.pkl and more",
    )
    add("--executor", default="local", choices=list(EXECUTORS), help="default: local")
    add("--workers", type=int, default=None, help="worker processes; 0 is one a core (default: 1 for local)")


def run_program(
    script: str, parser: ArgumentParser, work: Callable[[Namespace, Benchmark], None], argv: Sequence[str] | None
) -> int:
    """The main function of a bundled benchmark on pipelines."""
    args = parser.parse_args(argv)

    def measure() -> None:
        with benchmark(["--benchmark-results-path", str(args.benchmark_results_path)]) as results:
            results.params(**vars(args))
            work(args, results)

    return exit_code(script, measure)
