from __future__ import annotations

from collections.abc import Sequence

from assay.analysis.serving.serving_curve import CurvePoint, ServingCurve
from assay.report.exhibits.plot import Plot
from assay.report.quantity import number

_LEAST_POINTS = 2
_SHOWN = (("ttft_s", "Time to first token"), ("tpot_s", "Time per output token"), ("latency_s", "Whole answer"))
_SHARES = ("p50", "p99")


def rate_plots(curve: ServingCurve) -> tuple[Plot, ...]:
    """Times and throughput against the rate asked. A load whose times are not the server's has no time drawn."""
    points = sorted(curve.points, key=lambda point: point.rate)
    if len({point.rate for point in points}) < _LEAST_POINTS:
        return ()
    axis = axis_name(curve)
    x = tuple(point.rate for point in points)
    marks = () if curve.peak_rate is None else (curve.peak_rate,)
    plots = [
        Plot(title, "ms", x, lines, f"against {axis}", axis, marks=marks)
        for name, title in _SHOWN
        if (lines := tuple((share, times(points, f"{name}_{share}")) for share in _SHARES)) and _has_values(lines)
    ]
    answered = ("answered", tuple(point.answered_per_s for point in points))
    asked = (("asked", x),) if curve.by_rate else ()
    plots.append(Plot("Throughput", "requests/s", x, (answered, *asked), f"against {axis}", axis, marks=marks))
    return tuple(plots)


def times(points: Sequence[CurvePoint], name: str) -> tuple[float | None, ...]:
    """Milliseconds."""
    found = (None if point.client_bottleneck else point.times.get(name) for point in points)
    return tuple(None if value is None else float(f"{value * 1e3:.4g}") for value in found)


def axis_name(curve: ServingCurve) -> str:
    return "requests/s asked" if curve.by_rate else "requests in flight"


def _has_values(lines: Sequence[tuple[str, tuple[float | None, ...]]]) -> bool:
    return any(value is not None for _, values in lines for value in values)


def peak_sentence(curve: ServingCurve) -> str:
    """What the search for the highest rate found; empty where none was made."""
    if not curve.sought:
        return ""
    if curve.peak_rate is None:
        return "No rate tried meets the objectives."
    rate = f"{number(float(f'{curve.peak_rate:.4g}'))} requests/s"
    again = ", and did so again when repeated" if curve.peak_confirmed else "; a repeat did not confirm it"
    if not curve.peak_bounded:
        return f"No rate tried failed: the peak is at least {rate}{again if curve.peak_confirmed else ''}."
    return f"The highest rate found that meets the objectives is {rate}{again}."
