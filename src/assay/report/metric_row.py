from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from assay.analysis import Row
from assay.analysis.judging.spread import median_interval
from assay.report.quantity import quantity
from assay.report.svg.dots import dots_svg
from assay.report.view import MetricView


@dataclass(frozen=True)
class MetricRow:
    name: str
    value: str
    spread: str
    """Spread of the runs in words: `98.2 to 103`."""
    how: str
    """What the spread is: `95% interval of the median of 8 runs`, `lowest and highest of 3 runs`."""
    dots: Markup
    better: str
    change: Row | None
    spark: Markup = Markup("")
    """Small chart of the last sessions, where it changed."""

    @classmethod
    def of(
        cls,
        metric: MetricView,
        change: Row | None,
        before: tuple[float, ...] = (),
        spark: Markup = Markup(""),
    ) -> MetricRow:
        """`before`: one value a run of those it is compared with."""
        values, of_what = metric.values, "runs"
        if len(values) < 2:
            values, of_what = metric.samples, "samples of one run"
        low, high, how = _spread(values, of_what)
        spread, dots = "", Markup("")
        if low is not None and high is not None and low != high:
            spread = f"{quantity(low, metric.unit)} to {quantity(high, metric.unit)}"
            label = f"{len(values)} {of_what}, {spread}" + (f"; {len(before)} before in grey" if before else "")
            dots = dots_svg(values, low, high, label, before) if len(metric.values) > 1 else Markup("")
        value = quantity(metric.value, metric.unit)
        return cls(metric.name, value, spread, how, dots, metric.better or "", change, spark)


def _spread(values: tuple[float, ...], of_what: str) -> tuple[float | None, float | None, str]:
    if len(values) < 2:
        return None, None, ""
    interval = median_interval(values)
    if interval is not None:
        return interval.low, interval.high, f"95% interval of the median, {len(values)} {of_what}"
    return min(values), max(values), f"lowest and highest of {len(values)} {of_what}"
