from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.errors import AssayError, ConfigError, UsageError
from assay.names import list_names, unknown
from assay.native.library import absence, kernel
from assay.pipeline import Pipeline, executor_named
from assay.pipeline.executors.executor import EXECUTORS
from assay.record.benchmark import Benchmark, benchmark
from assay.record.task import TaskPerf, TaskPerfUtils


def exit_code(program: str, work: Callable[[], int | None], shown: Callable[[str], str] = str) -> int:
    """The main function of a benchmark program: an error that a user can cause is one message, without a traceback.

    `work` gives the code, None for 0; `shown` keeps secrets out of messages.
    """
    try:
        return work() or 0
    except AssayError as error:
        print(f"{program}: {shown(str(error))}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return 130


def note_kernel(results: Benchmark, without: str) -> None:
    """Which compiled code runs, as a parameter: runs with different code are not comparable, and their fingerprints
    differ. `without`: what a run is like where there is none, said as a warning.
    """
    results.params(kernel=kernel())
    why = absence()
    if why is not None:
        results.warn(f"{without}: {why}")


def arguments_of(config: Path, entry: str | None, script: str, usual: str) -> list[str]:
    """The arguments an entry of a session YAML gives to a bundled program, for running it without the session.

    `usual` is the entry that is meant where several use the program and none is named. Sinks are not looked at: none
    will hear of it. Folders that a session would make are made under `results/` of the current folder.
    """
    from assay.config.load_config import load_config
    from assay.config.placeholders import FOLDERS
    from assay.config.plan import make_plan

    plan = make_plan(load_config([config], os.environ, ["sinks=[]"]), os.environ)
    using = {planned.name: planned for planned in plan.entries if planned.script and planned.script.name == script}
    if entry is None and len(using) > 1 and usual in using:
        entry = usual
    if not using:
        names = list_names(planned.name for planned in plan.entries)
        raise UsageError(f"{config}: none of its entries ({names}) uses {script}")
    if entry is None and len(using) != 1:
        raise UsageError(f"{config}: say which --entry: {len(using)} of them use {script} ({list_names(using)})")
    if entry is not None and entry not in using:
        raise UsageError(f"{config}: {unknown('entry', entry, using, of=f'those that use {script}')}")
    chosen = using[entry] if entry is not None else next(iter(using.values()))
    if chosen.problem:
        raise ConfigError([f"{chosen.where}: {chosen.name}: {chosen.problem}"])
    folder = Path("results").absolute() / chosen.name
    return chosen.arguments({name: str(folder) for name in (*FOLDERS, "benchmark_results_path")})


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
