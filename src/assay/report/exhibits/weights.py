"""Charts of the other suites: operations side by side, growth with size and users, memory after each operation."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from markupsafe import Markup

from assay.report.exhibits.plots import Cell, Grid, Plot
from assay.report.quantity import quantity, round_quantity
from assay.report.session_view import MetricView
from assay.report.svg.scatter import scatter_svg

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


@dataclass(frozen=True)
class StorePoint:
    """A store over all scenarios: how small, and how fast."""

    store: str
    size: float
    """Share of the plain size, geometric mean."""
    speed: float
    """Megabytes per CPU-second, median."""
    each: tuple[tuple[float, float], ...]
    """Size and speed of every scenario."""
    best: bool = False
    """No other store is both smaller and faster."""


def store_points(readings: Sequence[StoreReading], what: str) -> tuple[StorePoint, ...]:
    """`what`: `commit_speed` or `checkout_speed`. Only what every store was measured on, so that all are compared on
    the same."""
    known = [reading for reading in readings if reading.values.get(what, 0.0) > 0]
    stores = list(dict.fromkeys(reading.store for reading in known))
    cases = [{r.case for r in known if r.store == store} for store in stores]
    common = set.intersection(*cases) if cases else set()
    found = []
    for store in stores:
        own = [reading for reading in known if reading.store == store and reading.case in common]
        if own:
            size = math.exp(math.fsum(math.log(reading.share) for reading in own) / len(own))
            each = tuple((reading.share, reading.values[what]) for reading in own)
            found.append(StorePoint(store, size, median(speed for _, speed in each), each))
    return tuple(
        StorePoint(one.store, one.size, one.speed, one.each, not any(_better(other, one) for other in found))
        for one in found
    )


def _better(other: StorePoint, one: StorePoint) -> bool:
    """Whether the other is better on Pareto's terms: no worse in size and speed, better in one."""
    return other.size <= one.size and other.speed >= one.speed and (other.size < one.size or other.speed > one.speed)


_WHAT = {"commit_speed": "Size against speed of a commit", "checkout_speed": "Size against speed of a checkout"}


@dataclass(frozen=True)
class SizeRow:
    """Sizes of one scenario and dtype, as shares of the plain bytes."""

    case: str
    limit: float | None
    """What the entropy of the data allows."""
    stores: tuple[tuple[str, int, float], ...]
    """Store, its colour, its share."""


@dataclass(frozen=True)
class WeightExhibit:
    """What suites of weight stores left among an entry's metrics."""

    answer: tuple[str, ...]
    stores: tuple[tuple[str, int], ...]
    """Name and colour."""
    sizes: tuple[SizeRow, ...]
    most: float
    """End of the scale of all sizes."""
    map: Grid | None
    scatters: tuple[tuple[str, Markup], ...]
    operations: Grid | None
    plots: tuple[Plot, ...]

    @classmethod
    def of(cls, metrics: Sequence[MetricView]) -> tuple[WeightExhibit | None, list[MetricView]]:
        """The exhibit, None where there are no sizes of stores; and the metrics that it does not show."""
        readings, rest = store_readings(metrics)
        if not readings:
            return None, list(metrics)
        colours = {store: n for n, store in enumerate(dict.fromkeys(reading.store for reading in readings))}
        points = {what: store_points(readings, what) for what in _WHAT}
        rows = tuple(_size_rows(readings, colours))
        shares = [share for row in rows for _, _, share in row.stores]
        scatters = ((title, scatter_svg(points[what], colours, title)) for what, title in _WHAT.items())
        return cls(
            tuple(_answer(points)),
            tuple(colours.items()),
            rows,
            max(1.0, *shares),
            _map(readings, list(colours)),
            tuple((title, drawn) for title, drawn in scatters if drawn),
            operation_grid(metrics),
            (*scaling_plots(metrics), *memory_plots(metrics)),
        ), rest


def _answer(points: dict[str, tuple[StorePoint, ...]]) -> Iterable[str]:
    """Which store to choose, by what matters."""
    commits, checkouts = points["commit_speed"], points["checkout_speed"]
    if len(commits) < 2:
        return
    small = min(commits, key=lambda point: point.size)
    yield f"Smallest: {small.store}, {small.size:.0%} of the plain bytes (geometric mean over all scenarios)."
    for found, what in ((commits, "commits"), (checkouts, "checks out")):
        if found:
            fast = max(found, key=lambda point: point.speed)
            yield f"{what.capitalize()} fastest: {fast.store}, {round_quantity(fast.speed)} MB per CPU-second (median)."
    worse = [point.store for point in commits if not point.best]
    if worse:
        yield f"Another store is both smaller and commits faster than: {', '.join(worse)}."


def _size_rows(readings: Sequence[StoreReading], colours: dict[str, int]) -> Iterable[SizeRow]:
    for case in dict.fromkeys(reading.case for reading in readings):
        own = [reading for reading in readings if reading.case == case]
        limit = next((reading.limit for reading in own if reading.limit is not None), None)
        yield SizeRow(case, limit, tuple((one.store, colours[one.store], one.share) for one in own))


def _map(readings: Sequence[StoreReading], stores: Sequence[str]) -> Grid | None:
    """Coloured by what is left to gain."""
    found = {(reading.case, reading.store): reading for reading in readings}
    rows = []
    for case in dict.fromkeys(reading.case for reading in readings):
        cells = [_cell(found.get((case, store))) for store in stores]
        rows.append((Cell(case), *cells))
    note = "Ratio, and how much of what the data's entropy allows that is. The redder, the more is left to gain."
    return Grid("Every scenario and store", ("", *stores), tuple(rows), note) if rows else None


def _cell(reading: StoreReading | None) -> Cell:
    if reading is None:
        return Cell("–", number=True)
    text, reached = f"{reading.values['compression_ratio']:.2f}×", reading.values.get("of_limit")
    if reached is None:
        return Cell(text, number=True)
    return Cell(f"{text} ({reached:.0f}%)", number=True, heat=max(0.0, min(1.0, 1 - reached / 100)))
