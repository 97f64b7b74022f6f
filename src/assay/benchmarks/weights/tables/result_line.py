from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.record import Metric


@dataclass(frozen=True)
class ResultLine:
    """Readings of one scenario that share their labels: what one line of a table is made of."""

    scenario: str
    labels: Mapping[str, str]
    metrics: Mapping[str, Metric]

    def __contains__(self, name: str) -> bool:
        return name in self.metrics

    def __getitem__(self, name: str) -> Any:
        """Value of a metric."""
        return self.metrics[name].value

    @property
    def store(self) -> str:
        return self.labels["store"]

    def figure(self, name: str, form: str = "{}") -> str:
        """Value of a metric in a cell; a dash where it was not measured."""
        return form.format(self[name]) if name in self else "-"

    def interval(self, name: str) -> str:
        """Metric with the bounds that stand beside it as `…_low` and `…_high`."""
        if name not in self:
            return "-"
        return f"{self[name]:.2f} [{self[name + '_low']:.2f}, {self[name + '_high']:.2f}]"
