from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.record import Metric
from assay.record.metric import Better


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
