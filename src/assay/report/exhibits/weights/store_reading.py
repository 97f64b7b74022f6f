from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assay.report.view import MetricView

SHOWN = ("compression_ratio", "of_limit", "limit_ratio", "space_saved", "commit_speed", "checkout_speed")
"""Metrics of the compression suite that the charts tell; all others stay in its table."""
_NAME = re.compile(r"compression\.(?P<scenario>[^.]+)\.(?P<store>.+)\.(?P<dtype>[^.]+)\.(?P<what>[^.]+)")


@dataclass(frozen=True)
class StoreReading:
    """One store, one scenario, one dtype."""

    scenario: str
    dtype: str
    store: str
    values: Mapping[str, float]

    @property
    def share(self) -> float:
        """Stored size as a share of the plain size."""
        return 1 / self.values["compression_ratio"]

    @property
    def limit(self) -> float | None:
        """Share of the plain size that the entropy of the data allows."""
        ratio = self.values.get("limit_ratio")
        return 1 / ratio if ratio else None

    @property
    def case(self) -> str:
        return f"{self.scenario.replace('_', ' ')}, {self.dtype}"


def store_readings(metrics: Iterable[MetricView]) -> tuple[list[StoreReading], list[MetricView]]:
    """Named `compression.<scenario>.<store>.<dtype>.<what>` by the suites; and the metrics that are left."""
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    told: dict[tuple[str, str, str], list[str]] = {}
    metrics = list(metrics)
    for metric in metrics:
        named = _NAME.fullmatch(metric.name)
        if named and metric.values and named["what"] in SHOWN and math.isfinite(float(metric.value)):
            key = named["scenario"], named["dtype"], named["store"]
            found.setdefault(key, {})[named["what"]] = float(metric.value)
            told.setdefault(key, []).append(metric.name)
    sound = {key for key, values in found.items() if values.get("compression_ratio", 0.0) > 0}
    shown = {name for key in sound for name in told[key]}
    readings = [StoreReading(*key, found[key]) for key in found if key in sound]
    return readings, [metric for metric in metrics if metric.name not in shown]
