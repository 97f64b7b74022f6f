from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assay.record import Metric
from assay.record.metric import Better


@dataclass(frozen=True)
class Reading:
    """A metric and where it was taken: which store, dtype, size or operation."""

    labels: Mapping[str, str]
    what: str
    metric: Metric


class Readings(dict[str, Metric]):
    """What a scenario measured, by full name (`balanced.float32.compression_ratio`), with the labels kept apart."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Reading] = []
        self.notes: list[str] = []

    def at(self, **labels: str) -> ReadingPlace:
        return ReadingPlace(self, labels)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def where(self, **labels: str) -> Iterator[Reading]:
        for row in self.rows:
            if all(row.labels.get(key) == value for key, value in labels.items()):
                yield row

    def groups(self) -> dict[tuple[tuple[str, str], ...], dict[str, Metric]]:
        """Readings that share their labels belong to one line of a table."""
        lines: dict[tuple[tuple[str, str], ...], dict[str, Metric]] = {}
        for row in self.rows:
            lines.setdefault(tuple(row.labels.items()), {})[row.what] = row.metric
        return lines

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
class ReadingPlace:
    """Readings taken at one store, dtype, size or operation."""

    readings: Readings
    labels: Mapping[str, str]

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
        metric = Metric(name, value, unit, better, tuple(float(sample) for sample in samples), exact, margin)
        self.readings[name] = metric
        self.readings.rows.append(Reading(self.labels, what, metric))
