from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from assay.report.exhibits.plot import Plot
from assay.report.quantity import quantity
from assay.report.run_folder import UsageSeries
from assay.report.scraped_series import ScrapedSeries

MOST_SCRAPED = 8
"""Charts of a server's own metrics: the first of its page that changed."""


def resource_plots(series: UsageSeries, most_points: int) -> tuple[Plot, ...]:
    if len(series.t) < 3:
        return ()
    plots = [_plot("Processor", "cores", series, most_points, [("used", series.rate("cpu_s"))])]
    plots.append(_plot("Memory", "MB", series, most_points, [("resident", series.column("rss_mb"))]))
    moved = [("read", series.rate("read_mb")), ("written", series.rate("write_mb"))]
    if any(value > 0.05 for _, values in moved for value in values):
        plots.append(_plot("Disk", "MB/s", series, most_points, moved))
    if any(value > 0.02 for value in series.rate("steal_s")):
        plots.append(
            _plot("Stolen by other machines", "cores", series, most_points, [("steal", series.rate("steal_s"))])
        )
    return tuple(plot for plot in plots if plot.lines)


def service_plots(series: UsageSeries, scraped: ScrapedSeries, most_points: int) -> tuple[Plot, ...]:
    """Processor and memory of the server beside a program, and what its Prometheus page said."""
    used = [plot for plot in resource_plots(series, most_points) if plot.title in ("Processor", "Memory", "Disk")]
    plots = [replace(plot, title=f"Service: {plot.title.lower()}") for plot in used]
    for name in scraped.changing()[:MOST_SCRAPED]:
        points = scraped.points[name]
        t, values = [at for at, _ in points], [value for _, value in points]
        if len(points) >= 3:
            line = ((name.partition("{")[0], tuple(thin(values, most_points))),)
            words = f"mean {sum(values) / len(values):.3g}, highest {max(values):.3g}"
            plots.append(Plot(f"Service: {name}", "", tuple(thin(t, most_points)), line, words))
    return tuple(plots)


def _plot(
    title: str, unit: str, series: UsageSeries, most_points: int, lines: Sequence[tuple[str, Sequence[float]]]
) -> Plot:
    present = [(name, values) for name, values in lines if len(values) == len(series.t)]
    x = thin(series.t, most_points)
    words = "; ".join(
        f"{name}: mean {quantity(sum(values) / len(values), unit)}, highest {quantity(max(values), unit)}"
        for name, values in present
    )
    return Plot(
        title, unit, tuple(x), tuple((name, tuple(thin(values, most_points))) for name, values in present), words
    )


def thin(values: Sequence[float], most: int) -> list[float]:
    """Thins to at most `most` values, each the mean of its stretch: a short burst is flattened, not left out by
    chance."""
    if len(values) <= most:
        return [float(f"{value:.3g}") for value in values]
    edges = [round(i * len(values) / most) for i in range(most + 1)]
    return [float(f"{sum(values[a:b]) / (b - a):.3g}") for a, b in pairwise(edges)]
