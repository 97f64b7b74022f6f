from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from assay.analysis.serving.serving_curve import CurvePoint
from assay.analysis.serving.serving_point import ServingPoint
from assay.analysis.serving.serving_result import ServingResult
from assay.analysis.serving.time_distribution import TimeDistribution
from assay.report.exhibits.distribution import Bin, Distribution
from assay.report.exhibits.plot import Plot
from assay.report.exhibits.serving.figure import Figure, figures
from assay.report.exhibits.serving.load_plots import load_plots
from assay.report.exhibits.serving.rate_plots import axis_name, peak_sentence, rate_plots
from assay.report.page_limits import PageLimits
from assay.report.svg.histogram import histogram_svg

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
