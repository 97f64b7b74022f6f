from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.benchmarks.weights.orchestration.profile import Profile
from assay.benchmarks.weights.suite import BenchmarkSuite
from assay.benchmarks.weights.tables.result import BenchmarkResults, SuiteResult
from assay.benchmarks.weights.tables.table import Table
from assay.errors import UsageError
from assay.record import TaskPerf
from assay.record.benchmark import Benchmark
from assay.untrusted.writing import open_append

if TYPE_CHECKING:
    from assay.benchmarks.weights.orchestration.orchestrator import BenchmarkOrchestrator


@dataclass
class ResultsFolder:
    """What a run leaves behind: the three files of the result contract, which the report draws, and tables as text.

    As soon as a suite has ended its tables are printed and everything is written, without success until all have ended:
    what cuts the run short costs no suite that was finished.
    """

    path: Path
    contract: Path
    profile: Profile | None = None
    suites: list[SuiteResult] = field(default_factory=list)
    """Those that have ended."""

    @classmethod
    def at(cls, output: str | None, contract: str | None, profile: Profile | None = None) -> ResultsFolder:
        path = Path(output or contract or new_folder_name())
        for folder in (path, Path(contract or path)):
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UsageError(f"{folder}: cannot be made: {error.strerror}") from None
        (path / "tables.txt").unlink(missing_ok=True)
        return cls(path, Path(contract or path), profile)

    def add_suite(self, suite: BenchmarkSuite, result: SuiteResult) -> None:
        self.print_tables(list(suite.tables(result)))
        self.suites.append(result)
        self.write_unfinished()

    def print_tables(self, tables: Iterable[Table]) -> None:
        with open_append(self.path / "tables.txt") as out:
            for table in tables:
                print(f"{table}\n", flush=True)
                out.write(f"{table}\n\n")

    def write(self, results: BenchmarkResults, profile: Profile, orchestrator: BenchmarkOrchestrator) -> None:
        self.profile = profile
        written = self._contract(results.suites)
        written.params(stores=list(orchestrator.stores), settings=asdict(orchestrator.settings))
        written.metric("elapsed_s", results.seconds, unit="s", better="lower")
        written.metric("estimated_s", results.estimated_s, unit="s")
        written.finish(results.success)

    def write_unfinished(self) -> None:
        """A run that is cut short leaves the suites that have ended, and files that say so."""
        self._contract(self.suites).finish(success=False)

    def _contract(self, suites: Sequence[SuiteResult]) -> Benchmark:
        written = Benchmark(["--benchmark-results-path", os.fspath(self.contract)])
        if self.profile is not None:
            written.params(profile=self.profile.model_dump())
        sizes: dict[str, Any] = {}
        for metric in (metric for suite in suites for metric in suite.metrics()):
            written.add_metric(metric)
            if metric.name.endswith(".logical_bytes"):
                sizes[metric.name] = metric.value
        # How large the data is depends on the time there is; results of other sizes are not to be compared.
        written.params(sizes=sizes)
        written.add_tasks(
            TaskPerf(
                f"{suite.suite}.{scenario.name}", {"process_time": scenario.seconds, "cpu_time": scenario.cpu_seconds}
            )
            for suite in suites
            for scenario in suite.scenarios
            if not scenario.skipped
        )
        return written


def new_folder_name() -> str:
    return f"benchmark_results_{time.strftime('%Y%m%d_%H%M%S')}"
