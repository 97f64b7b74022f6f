from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.report.view import MetricView

_LOADS = ("rate", "asked_rate", "offered", "offered_rate", "load", "concurrency")
MOST_LINES = 4


@dataclass(frozen=True)
class Curve:
    """Latency against load: rows of a metric that have a rate and percentiles."""

    metric: str
    x_name: str
    x: tuple[float, ...]
    lines: tuple[tuple[str, tuple[float, ...]], ...]


def curve(metric: MetricView) -> Curve | None:
    rows = metric.value
    if not (isinstance(rows, list) and len(rows) >= 3 and all(isinstance(row, Mapping) for row in rows)):
        return None
    x_name = next((name for name in _LOADS if all(_number(row.get(name)) for row in rows)), None)
    if x_name is None:
        return None
    names = [str(key) for key in rows[0] if str(key).startswith("p") and str(key)[1:3].isdigit()]
    names = [name for name in names if all(_number(row.get(name)) for row in rows)][:MOST_LINES]
    if not names:
        return None
    ordered = sorted(rows, key=lambda row: float(row[x_name]))
    x = tuple(float(row[x_name]) for row in ordered)
    return Curve(metric.name, x_name, x, tuple((n, tuple(float(row[n]) for row in ordered)) for n in names))


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
