from __future__ import annotations

from collections.abc import Sequence

from assay.analysis.serving.serving_curve import ServingCurve
from assay.report.exhibits.plot import Plot
from assay.report.exhibits.serving.rate_plots import axis_name, times

MOST_SETTINGS = 8
"""Lines that can be told apart in one chart."""
_SHOWN = (
    ("ttft_s_p99", "Time to first token, p99"),
    ("tpot_s_p99", "Time per output token, p99"),
    ("latency_s_p99", "Whole answer, p99"),
)


def settings_charts(curves: Sequence[tuple[str, ServingCurve]]) -> tuple[Plot, ...]:
    """One line a setting in each chart, where a session swept several; entries by rate and by requests in flight are
    never drawn against one axis."""
    first = curves[0][1].by_rate if curves else True
    alike = [(name, curve) for name, curve in curves if curve.by_rate == first][:MOST_SETTINGS]
    if len(alike) < 2:
        return ()
    x = tuple(sorted({point.rate for _, curve in alike for point in curve.points}))
    axis = axis_name(alike[0][1])
    charts = ((title, _lines(alike, x, metric)) for metric, title in _SHOWN)
    return tuple(
        Plot(title, "ms", x, lines, f"against {axis}", axis)
        for title, lines in charts
        if any(value is not None for _, values in lines for value in values)
    )


def _lines(
    curves: Sequence[tuple[str, ServingCurve]], x: Sequence[float], metric: str
) -> tuple[tuple[str, tuple[float | None, ...]], ...]:
    lines = []
    for name, curve in curves:
        rates = [point.rate for point in curve.points]
        found = dict(zip(rates, times(curve.points, metric), strict=True))
        lines.append((name, tuple(found.get(rate) for rate in x)))
    return tuple(lines)
