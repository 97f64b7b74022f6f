from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from assay.benchmarks.weights.tables.readings import Readings, ResultLine
from assay.record import Metric


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
