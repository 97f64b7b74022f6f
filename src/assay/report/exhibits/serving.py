from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from assay.analysis.serving import CurvePoint, LoadSeries, ServingCurve, ServingPoint, ServingResult, TimeDistribution
from assay.report.exhibits.distribution import Bin, Distribution
from assay.report.exhibits.plots import Plot
from assay.report.quantity import number, quantity
from assay.report.run_folder import PageLimits
from assay.report.svg.distributions import histogram_svg

_TIMES = (("ttft_s", "First token"), ("tpot_s", "Per output token"), ("latency_s", "Whole answer"))


@dataclass(frozen=True)
class Figure:
    """One large number at the top of a load."""

    title: str
    value: str
    detail: str = ""
    bad: bool = False


def figures(point: ServingPoint) -> tuple[Figure, ...]:
    """Asked and delivered, goodput, times, errors, the client: in the order in which people ask."""
    found = [_load(point), _throughput(point)]
    found += [_time(point, name, title) for name, title in _TIMES if f"{name}_p50" in point.metrics]
    found.append(_errors(point))
    if point.client_cpu_share is not None:
        used = f"{point.client_cpu_share * 100:.3g}% of a core"
        found.append(Figure("The client used", used, point.client))
    return tuple(found)


def _load(point: ServingPoint) -> Figure:
    share = point.delivered_share
    delivered = "delivered share not known" if share is None else f"{_share(share)} of it delivered"
    return Figure("Load asked", point.label, delivered, bad=share is not None and share < 0.95)


def _share(share: float) -> str:
    """Never rounded up to the whole."""
    return f"{int(share * 1000) / 10:g}%"


def _throughput(point: ServingPoint) -> Figure:
    answered, good = point.metrics.get("requests_per_s"), point.metrics.get("goodput_requests_per_s")
    if answered is None:
        return Figure("Answered", "nothing", bad=True)
    tokens = point.metrics.get("output_tokens_per_s")
    parts = [f"{number(float(f'{tokens:.4g}'))} tokens/s"] if tokens else []
    if point.objectives and good is not None:
        parts.insert(0, f"goodput {number(float(f'{good:.4g}'))}/s")
    return Figure("Answered", f"{number(float(f'{answered:.4g}'))}/s", ", ".join(parts))


def _time(point: ServingPoint, name: str, title: str) -> Figure:
    values = [(share, point.metrics.get(f"{name}_{share}")) for share in ("p95", "p99")]
    more = ", ".join(f"{share} {quantity(value, 's')}" for share, value in values if value is not None)
    return Figure(f"{title}, median", quantity(point.metrics[f"{name}_p50"], "s"), more)


def _errors(point: ServingPoint) -> Figure:
    if not point.error_count:
        return Figure("Errors", "none", f"{number(point.requests)} requests" if point.requests else "")
    kinds = ", ".join(f"{count} × {kind}" for kind, count in point.errors if count)
    return Figure("Errors", number(point.error_count), kinds, bad=True)


_LEAST_SLOTS = 3
_MOST_MARKS = 60


def load_plots(series: LoadSeries | None) -> tuple[Plot, ...]:
    """Requests in flight, throughput, tokens and errors, slot by slot. Slots with errors are marked in all of them."""
    if series is None or series.slots < _LEAST_SLOTS:
        return ()
    x = tuple(float(f"{(at + 0.5) * series.slot_s:.6g}") for at in range(series.slots))
    failed = [sum(values[at] or 0 for _, values in series.errors if at < len(values)) for at in range(series.slots)]
    marks = tuple(x[at] for at, count in enumerate(failed) if count)[:_MOST_MARKS]
    says = "errors where it is dashed" if marks else ""
    flow = (("answered", series.requests_per_s), ("sent", series.sent_per_s))
    plots = [
        Plot("In flight", "requests", x, (("in flight", series.in_flight),), says, marks=marks),
        Plot("Requests", "1/s", x, flow, says, marks=marks),
    ]
    if any(series.output_tokens_per_s):
        tokens = (("tokens", series.output_tokens_per_s),)
        plots.append(Plot("Output tokens", "1/s", x, tokens, says, marks=marks))
    if any(failed):
        kinds = tuple((kind, values) for kind, values in series.errors if any(values))
        plots.append(Plot("Errors", f"in {series.slot_s:g} s", x, kinds, ""))
    return tuple(plots)


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


SHARES = ("p50", "p90", "p95", "p99")
_DRAWN = ("ttft_s", "tpot_s", "chunk_gap_s", "latency_s")
_FROM_SEND = "_from_send"


@dataclass(frozen=True)
class TimeRow:
    """One kind of time: its percentiles in seconds."""

    name: str
    definition: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class LoadDetail:
    """All that is shown of one load."""

    point: ServingPoint
    figures: tuple[Figure, ...]
    rows: tuple[TimeRow, ...]
    distributions: tuple[tuple[Distribution, Markup], ...]
    plots: tuple[Plot, ...]


@dataclass(frozen=True)
class ServingExhibit:
    """All that is shown of one `serving.json`."""

    result: ServingResult
    peak: str
    """What the search for the highest rate found, or empty."""
    curve: tuple[Plot, ...]
    axis: str
    loads: tuple[LoadDetail, ...]
    left_out: int
    """Loads that there was no room for."""

    @classmethod
    def of(cls, result: ServingResult, limits: PageLimits) -> ServingExhibit:
        shown = result.points[: max(1, limits.runs)]
        curve = result.curve
        return cls(
            result=result,
            peak=peak_sentence(curve) if curve else "",
            curve=rate_plots(curve) if curve else (),
            axis=axis_name(curve) if curve else "",
            loads=tuple(_detail(point, result, limits) for point in shown),
            left_out=len(result.points) - len(shown),
        )

    def words(self, point: CurvePoint) -> str:
        """The verdict on one point of the curve that neither the server's end nor the client's decided."""
        judged = any(one.objectives for one in self.result.points)
        if judged:
            return "objectives met" if point.valid else "objectives not met"
        return "load delivered" if point.valid else "load not delivered"

    @property
    def plots(self) -> tuple[Plot, ...]:
        """Plots in the order of the page."""
        return (*self.curve, *(plot for load in self.loads for plot in load.plots))


def _detail(point: ServingPoint, result: ServingResult, limits: PageLimits) -> LoadDetail:
    drawn = [_distribution(one) for one in point.histograms if one.name in _DRAWN and len(one.counts) > 1]
    return LoadDetail(
        point=point,
        figures=figures(point),
        rows=_rows(point, dict(result.definitions)),
        distributions=tuple((one, histogram_svg(one)) for one in drawn),
        plots=load_plots(point.series)[: max(1, limits.series + 1)],
    )


def _distribution(shown: TimeDistribution) -> Distribution:
    bins = [Bin(low, high, count) for low, high, count in zip(shown.edges, shown.edges[1:], shown.counts, strict=False)]
    return Distribution(shown.name, "s", shown.count, tuple(bins), shown.quantiles)


def _rows(point: ServingPoint, definitions: dict[str, str]) -> tuple[TimeRow, ...]:
    """Each kind of time, and below it the same from the real send where that is another figure."""
    names = dict.fromkeys(name.removesuffix("_p50") for name in point.metrics if name.endswith("_p50"))
    rows = []
    for name in names:
        plain = name.removesuffix(_FROM_SEND)
        said = definitions.get(plain, "")
        values = tuple(point.metrics.get(f"{name}_{share}") for share in SHARES)
        if name != plain:
            if values == tuple(point.metrics.get(f"{plain}_{share}") for share in SHARES):
                continue  # Between two arrivals, such as a gap: it is the same from wherever one counts.
            said += "; from the real send instead of the intended time" if said else ""
        rows.append(TimeRow(name, said, values))
    return tuple(rows)


MOST_SETTINGS = 8
"""Lines that can be told apart in one chart."""
_CHARTED_METRICS = (
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
    charts = ((title, _lines(alike, x, metric)) for metric, title in _CHARTED_METRICS)
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
