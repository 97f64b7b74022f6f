from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from assay.report.session_view import MetricView


@dataclass(frozen=True)
class Plot:
    """A line chart: `report/svg/lines.py` draws it, and the page's script tells its values under the pointer."""

    title: str
    unit: str
    x: tuple[float, ...]
    lines: tuple[tuple[str, tuple[float | None, ...]], ...]
    """Values beside their `x`. One that is missing or no finite number is a gap."""
    says: str
    """The same in words, for who cannot see it."""
    x_name: str = "seconds"
    time: bool = False
    """`x` is seconds since 1970."""
    zero: bool = True
    """Whether the axis begins at zero, as for what a program used; a trend is read against itself."""
    marks: tuple[float, ...] = ()
    """Where something changed, dashed."""
    tall: bool = False

    def __post_init__(self) -> None:
        for name, values in self.lines:
            if len(values) > len(self.x):
                raise ValueError(f"plot {self.title!r}: line {name!r} has {len(values)} values for {len(self.x)} x")

    def sort(self) -> Plot:
        """The plot sorted by `x`, without points that have no `x`; every line is as long as `x`, with None for gaps."""
        order = sorted((i for i, x in enumerate(self.x) if math.isfinite(x)), key=self.x.__getitem__)
        lines = tuple((name, tuple(_there(values, i) for i in order)) for name, values in self.lines)
        return replace(self, x=tuple(self.x[i] for i in order), lines=lines)

    def to_json(self) -> dict[str, Any]:
        """What the page's script reads values from. All else stands in the drawing."""
        plot = self.sort()
        lines = [_compact(values) for _, values in plot.lines]
        return {"x": [_short(x) for x in plot.x], "lines": lines, **({"time": True} if self.time else {})}


def _compact(values: tuple[float | None, ...]) -> list[float | None]:
    """A line that never changes is told once."""
    return [_short(value) for value in (values if len({*values}) > 1 else values[:1])]


def _there(values: tuple[float | None, ...], index: int) -> float | None:
    value = values[index] if index < len(values) else None
    return value if value is not None and math.isfinite(value) else None


def _short(value: float | None) -> float | None:
    """The same number without a fraction that says nothing: a page has thousands of them."""
    return int(value) if value is not None and value == int(value) and abs(value) < 1e15 else value


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


@dataclass(frozen=True)
class Cell:
    text: str
    number: bool = False
    heat: float | None = None
    """0 (as it should be) to 1 (as bad as it gets here): how strongly the cell is coloured."""
    unsure: bool = False
    """Its interval holds "no difference": shown grey."""


@dataclass(frozen=True)
class Grid:
    """A table of an entry: of scenarios, of pipelines against each other, of stages."""

    title: str
    columns: tuple[str, ...]
    """The first is the heading of the rows' names."""
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
