from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from assay.benchmarks.weight_scenarios.scenario_config import ScenarioConfig
from assay.benchmarks.weights.settings import SuiteSettings
from assay.benchmarks.weights.tables import Table

if TYPE_CHECKING:
    from assay.benchmarks.weights.results import SuiteResult


class BenchmarkSuite(ABC):
    """Scenarios with a name. Subclass it, name it in the entry-point group `assay.weight_suites`, or hand it to
    `BenchmarkOrchestrator.suites`.
    """

    name = ""
    """Name in profiles, flags and metrics: of the class, or of the one that is made."""
    interpretation: ClassVar[tuple[str, ...]] = ()
    """Printed under the suite's table: what its figures mean."""

    def __init__(self, name: str = "") -> None:
        self.name = name or self.name
        if not self.name:
            raise TypeError(f"{type(self).__name__} has no name")
        self.settings = SuiteSettings()
        """The orchestrator's, from before it asks for scenarios."""

    @abstractmethod
    def get_scenarios(self) -> Sequence[str]: ...

    @abstractmethod
    def run_scenario(self, name: str, config: ScenarioConfig) -> Mapping[str, Any]:
        """Metrics by name: a value, `{value, unit, better, samples}` or a `Metric`. What it raises fails it."""

    def estimate(self, name: str, config: ScenarioConfig) -> float:
        """Seconds the scenario would take with all its repetitions, for the plan and for the time left."""
        return 1.0

    def failures(self, result: SuiteResult, strict: bool) -> Iterable[str]:
        """What makes the suite fail although every scenario ran."""
        return ()

    def tables(self, result: SuiteResult) -> Iterable[Table]:
        rows = tuple(
            (scenario.name, metric.name, format_value(metric.value, metric.unit))
            for scenario in result.scenarios
            for metric in scenario.readings.values()
        )
        yield Table(f"{self.name.title()} Results", ("Scenario", "Metric", "Value"), rows, self.interpretation)


def format_value(value: Any, unit: str | None = None) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    number = f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
    return f"{number} {unit}" if unit else number
