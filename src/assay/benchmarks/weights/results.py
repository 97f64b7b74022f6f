from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import UsageError
from assay.files.writing import open_append
from assay.record import Metric, TaskPerf
from assay.record.benchmark import Benchmark
from assay.record.metric import Better

if TYPE_CHECKING:
    from assay.benchmarks.weights.orchestrator import BenchmarkOrchestrator
    from assay.benchmarks.weights.profile import Profile
    from assay.benchmarks.weights.suite import BenchmarkSuite
    from assay.benchmarks.weights.tables import Table


@dataclass(frozen=True)
class ResultLine:
    """Readings that share their labels (which store, dtype, size or operation): what one line of a table is made of."""

    labels: Mapping[str, str]
    metrics: dict[str, Metric] = field(default_factory=dict)
    """What was measured → the metric, whose own name begins with the labels."""
    scenario: str = ""
    """Scenario that they were taken in, once it has ended."""
    readings: dict[str, Metric] = field(default_factory=dict, repr=False)
    """All of the scenario by full name, to which `add` adds."""

    def add(
        self,
        what: str,
        value: Any,
        unit: str | None = None,
        better: Better | None = None,
        samples: Iterable[float] = (),
        *,
        exact: bool = False,
        margin: float | None = None,
    ) -> None:
        """`exact`: the same data gives the same value, however fast the machine is."""
        name = ".".join([*self.labels.values(), what])
        metric = Metric(name, value, unit, better, tuple(map(float, samples)), exact, margin)
        self.metrics[what] = self.readings[name] = metric

    def __contains__(self, what: str) -> bool:
        return what in self.metrics

    def __getitem__(self, what: str) -> Any:
        """Value of a metric."""
        return self.metrics[what].value

    def get(self, what: str) -> Any:
        """Value of a metric; None where it was not measured."""
        return self.metrics[what].value if what in self.metrics else None

    @property
    def store(self) -> str:
        return self.labels["store"]

    def cell(self, form: str) -> str:
        """`{dtype}`, `{compression_ratio:.2f}x`: labels and values for their names; a dash where one is missing."""
        values = {what: metric.value for what, metric in self.metrics.items()}
        try:
            return form.format_map({**self.labels, **values})
        except KeyError:
            return "-"


class Readings(dict[str, Metric]):
    """What a scenario measured, by full name (`balanced.float32.compression_ratio`), and line by line."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[ResultLine] = []
        self.notes: list[str] = []

    def at(self, **labels: str) -> ResultLine:
        """The line with these labels, a new one where there is none."""
        found = next((line for line in self.lines if line.labels == labels), None)
        if found is None:
            found = ResultLine(labels, readings=self)
            self.lines.append(found)
        return found

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    @classmethod
    def of(cls, measured: Mapping[str, Any]) -> Readings:
        """What a user's own suite returns: numbers, or metrics with unit and direction."""
        if isinstance(measured, Readings):
            return measured
        readings = cls()
        for name, value in measured.items():
            metric = value if isinstance(value, Metric) else Metric.parse(name, value)
            readings.at().add(
                name, metric.value, metric.unit, metric.better, metric.samples, exact=metric.exact, margin=metric.margin
            )
        return readings


@dataclass(frozen=True)
class ScenarioResult:
    name: str
    readings: Readings
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    error: str | None = None
    skipped: str | None = None
    """Why it was not run."""


@dataclass(frozen=True)
class SuiteResult:
    suite: str
    scenarios: tuple[ScenarioResult, ...]
    failures: tuple[str, ...] = ()
    """What the suite itself holds against the store, such as an inexact bit under `--strict`."""

    @property
    def success(self) -> bool:
        return not self.failures and not any(scenario.error or scenario.skipped for scenario in self.scenarios)

    def metrics(self) -> Iterator[Metric]:
        """Named `suite.scenario.…`."""
        for scenario in self.scenarios:
            for name, metric in scenario.readings.items():
                full = f"{self.suite}.{scenario.name}.{name}"
                yield replace(metric, name=full)

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(note for scenario in self.scenarios for note in scenario.readings.notes)

    @property
    def stores(self) -> list[str]:
        """Those that were measured, in their order."""
        return list(dict.fromkeys(line.store for line in self.lines()))

    def lines(self) -> Iterator[ResultLine]:
        for scenario in self.scenarios:
            yield from (replace(line, scenario=scenario.name) for line in scenario.readings.lines if line.metrics)

    def __getitem__(self, scenario: str) -> ScenarioResult:
        return next(result for result in self.scenarios if result.name == scenario)


@dataclass(frozen=True)
class BenchmarkResults:
    profile: str
    suites: tuple[SuiteResult, ...]
    estimated_s: float
    seconds: float

    @property
    def success(self) -> bool:
        return all(suite.success for suite in self.suites)

    @property
    def failures(self) -> list[str]:
        """Everything that failed, suite by suite, as it is told to a person."""
        lines = []
        for suite in self.suites:
            lines += [f"{suite.suite}: {failure}" for failure in suite.failures]
            lines += [
                f"{suite.suite}/{s.name}: {s.error or s.skipped}" for s in suite.scenarios if s.error or s.skipped
            ]
        return lines

    def metrics(self) -> Iterator[Metric]:
        for suite in self.suites:
            yield from suite.metrics()

    def __getitem__(self, suite: str) -> SuiteResult:
        return next(result for result in self.suites if result.suite == suite)


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
