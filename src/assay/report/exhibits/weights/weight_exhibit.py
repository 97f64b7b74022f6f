from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from assay.report.exhibits.grid import Cell, Grid
from assay.report.exhibits.plot import Plot
from assay.report.exhibits.weights.store_plots import memory_plots, operation_grid, scaling_plots
from assay.report.exhibits.weights.store_point import StorePoint, store_points
from assay.report.exhibits.weights.store_reading import StoreReading, store_readings
from assay.report.quantity import round_quantity
from assay.report.svg.scatter import scatter_svg
from assay.report.view import MetricView

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
