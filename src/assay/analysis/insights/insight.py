from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from assay.record import Metric, Record

Kind = Literal["bottleneck", "scaling", "memory", "compression", "load", "interference", "measurement", "accuracy"]


@dataclass(frozen=True)
class Insight:
    kind: Kind
    entry: str
    says: str
    evidence: str
    """The numbers it rests on, as a person reads them."""
    advice: str
    severity: int = 1
    """2: something is wrong; 1: worth a look; 0: good to know."""
    numbers: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.entry}: {self.says} ({self.evidence})"

    def to_json(self) -> dict[str, Any]:
        return {**self.__dict__, "numbers": dict(self.numbers)}


@dataclass(frozen=True)
class EntryRuns:
    """All measured runs of one entry."""

    name: str
    runs: Sequence[Record]
    folder: Path | None = None
    """Folder of the session, where it is on disk: series of memory use are read from it."""

    @cached_property
    def metrics(self) -> Mapping[str, Metric]:
        """Metrics of the last run; figures that need all runs take `values`."""
        return self.runs[-1].metrics

    def number(self, name: str) -> float | None:
        metric = self.metrics.get(name)
        return None if metric is None else metric.number

    def share(self, name: str) -> float | None:
        """0.9, whether it was written as 0.9 or as 90 with the unit %."""
        metric = self.metrics.get(name)
        if metric is None or metric.number is None:
            return None
        return metric.number / 100 if metric.unit == "%" else metric.number

    def ending(self, suffix: str) -> list[tuple[str, float]]:
        """Metrics whose name ends so, with what stands before it."""
        return [
            (name.removesuffix(suffix), value)
            for name, metric in self.metrics.items()
            if name.endswith(suffix) and (value := metric.number) is not None
        ]
