"""Charts of the other suites: operations side by side, growth with size and users, memory after each operation."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from assay.report.exhibits.grid import Cell, Grid
from assay.report.exhibits.plot import Plot
from assay.report.quantity import quantity, round_quantity
from assay.report.view import MetricView

_OPERATION = re.compile(r"performance\.[^.]+\.(?P<store>.+)\.(?P<operation>[^.]+)\.latency_p50")
_POINT = re.compile(r"scalability\.(?P<scenario>[^.]+)\.(?P<store>.+)\.(?P<point>[^.]+)\.(?P<what>[a-z]+_speed|size)")
_GROWTH = re.compile(r"memory\.[^.]+\.(?P<store>.+)\.growth_per_(?P<what>commit|checkout)")
_MOST_WORSE = 10.0
"""Factor over the fastest at which a cell is as red as it gets."""


def operation_grid(metrics: Sequence[MetricView]) -> Grid | None:
    """Coloured within a row: how many times as long as the fastest."""
    found: dict[str, dict[str, float]] = {}
    for metric in metrics:
        named = _OPERATION.fullmatch(metric.name)
        if named and metric.values and float(metric.value) > 0:
            found.setdefault(named["operation"].replace("_", " "), {})[named["store"]] = float(metric.value)
    stores = list(dict.fromkeys(store for times in found.values() for store in times))
    if len(stores) < 2:
        return None
    rows = []
    for operation, times in found.items():
        least = min(times.values())
        cells = [_time(times.get(store), least) for store in stores]
        rows.append((Cell(operation), *cells))
    note = "Median time of a call. The redder, the longer than the fastest store."
    return Grid("Operations", ("", *stores), tuple(rows), note)


def _time(milliseconds: float | None, least: float) -> Cell:
    if milliseconds is None:
        return Cell("–", number=True)
    heat = min(1.0, math.log(milliseconds / least) / math.log(_MOST_WORSE))
    return Cell(round_quantity(milliseconds / 1e3, "s"), number=True, heat=heat)


def scaling_plots(metrics: Sequence[MetricView]) -> tuple[Plot, ...]:
    """Speed at each size; sizes grow by factors, so they stand at equal distances: the x is the power of ten."""
    found: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
    units: dict[str, str] = {}
    for metric in metrics:
        named = _POINT.fullmatch(metric.name)
        if named and metric.values:
            place = found.setdefault((named["scenario"], named["store"]), {}).setdefault(named["point"], {})
            place[named["what"]] = float(metric.value)
            if named["what"] == "size":
                units[named["scenario"]] = metric.unit or ""
    plots = []
    for scenario, unit in units.items():
        for what in ("commit_speed", "checkout_speed"):
            lines = {
                store: {values["size"]: values[what] for values in points.values() if {"size", what} <= values.keys()}
                for (of, store), points in found.items()
                if of == scenario
            }
            sizes = sorted({size for line in lines.values() for size in line if size > 0})
            if len(sizes) < 2:
                continue
            drawn = tuple((store, tuple(line.get(size) for size in sizes)) for store, line in lines.items() if line)
            ends = f"{quantity(sizes[0])} to {quantity(sizes[-1])} {unit}"
            title = f"{what.removesuffix('_speed').capitalize()} by {scenario.replace('_', ' ')}"
            x = tuple(math.log10(size) for size in sizes)
            plots.append(Plot(title, "MB/s", x, drawn, ends, f"power of ten, {unit}"))
    return tuple(plots)


def memory_plots(metrics: Sequence[MetricView]) -> tuple[Plot, ...]:
    plots = []
    for what in ("commit", "checkout"):
        lines = tuple(
            (named["store"], tuple(value / 1e6 for value in metric.samples))
            for metric in metrics
            if (named := _GROWTH.fullmatch(metric.name)) and named["what"] == what and len(metric.samples) > 2
        )
        if lines:
            x = tuple(float(n) for n in range(1, 1 + max(len(values) for _, values in lines)))
            plots.append(Plot(f"Memory after each {what}", "MB", x, lines, "resident", what, zero=False))
    return tuple(plots)
