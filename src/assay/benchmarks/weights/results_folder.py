from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.benchmarks.weights.chart_page import chart_page
from assay.benchmarks.weights.profile import Profile
from assay.benchmarks.weights.result import BenchmarkResults, SuiteResult
from assay.benchmarks.weights.suite import BenchmarkSuite
from assay.benchmarks.weights.table import Table
from assay.errors import UsageError
from assay.record import TaskPerf
from assay.record.benchmark import Benchmark

if TYPE_CHECKING:
    from assay.benchmarks.weights.chart import Chart
    from assay.benchmarks.weights.orchestrator import BenchmarkOrchestrator


@dataclass
class ResultsFolder:
    """What a run leaves behind: the three files of the result contract, tables as text, and a page of charts.

    Tables are printed, and appended to the file, as soon as a suite has ended.
    """

    path: Path
    contract: Path
    charts: bool = True
    sections: list[tuple[str, list[Table], list[Chart]]] = field(default_factory=list)

    @classmethod
    def at(cls, output: str | None, contract: str | None, charts: bool) -> ResultsFolder:
        path = Path(output or contract or f"benchmark_results_{time.strftime('%Y%m%d_%H%M%S')}")
        for folder in (path, Path(contract or path)):
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UsageError(f"{folder}: cannot be made: {error.strerror}") from None
        (path / "tables.txt").unlink(missing_ok=True)
        return cls(path, Path(contract or path), charts)

    def finished(self, suite: BenchmarkSuite, result: SuiteResult) -> None:
        tables = list(suite.tables(result))
        self.sections.append((suite.name, tables, list(suite.charts(result)) if self.charts else []))
        self._print(tables)

    def compared(self, tables: list[Table]) -> None:
        if tables:
            self.sections.append(("comparison of stores", tables, []))
            self._print(tables)

    def _print(self, tables: list[Table]) -> None:
        with (self.path / "tables.txt").open("a") as out:
            for table in tables:
                print(f"{table}\n", flush=True)
                out.write(f"{table}\n\n")

    def write(self, results: BenchmarkResults, profile: Profile, orchestrator: BenchmarkOrchestrator) -> None:
        written = self._contract(profile)
        written.params(stores=list(orchestrator.stores), settings=_plain(asdict(orchestrator.settings)))
        sizes: dict[str, Any] = {}
        for metric in results.metrics():
            written.add_metric(metric)
            if metric.name.endswith(".logical_bytes"):
                sizes[metric.name] = metric.value
        # How large the data is depends on the time there is; results of other sizes are not to be compared.
        written.params(sizes=sizes)
        written.metric("elapsed_s", results.seconds, unit="s", better="lower")
        written.metric("estimated_s", results.estimated_s, unit="s")
        written.add_tasks(
            TaskPerf(
                f"{suite.suite}.{scenario.name}", {"process_time": scenario.seconds, "cpu_time": scenario.cpu_seconds}
            )
            for suite in results.suites
            for scenario in suite.scenarios
            if not scenario.skipped
        )
        written.finish(results.success)
        if self.charts:
            page = chart_page(f"Weight suites, profile {profile.name}", self.sections)
            (self.path / "charts.html").write_text(page)

    def failed(self, profile: Profile) -> None:
        """A run that is cut short still leaves files that say so."""
        self._contract(profile).finish(success=False)

    def _contract(self, profile: Profile) -> Benchmark:
        written = Benchmark(["--benchmark-results-path", os.fspath(self.contract)])
        written.params(profile=profile.model_dump())
        return written


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {key: str(value) if isinstance(value, Path) else value for key, value in values.items()}
