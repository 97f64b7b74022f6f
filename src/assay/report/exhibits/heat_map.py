from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal

from assay.analysis.colocation.colocation_result import ColocationResult, GroupRun
from assay.analysis.colocation.pipeline_run import PipelineRun, RunSeries
from assay.analysis.colocation.slowdown import (
    BEHIND,
    KNEE,
    WHAT,
    RateSearch,
    RateTrial,
    SlowdownEstimate,
    copy_of,
    knee,
)
from assay.report.exhibits.plots import Plot
from assay.report.quantity import number, quantity

Tone = Literal["slower", "faster", "unsure", "none"]
TITLES: Final = {
    "throughput": "By throughput",
    "p50": "By median latency (p50)",
    "p99": "By 99th percentile of latency",
}
_MOST_REASONS = 20
_LEAST = 0.1
_MOST = 100.0


@dataclass(frozen=True)
class HeatCell:
    text: str
    interval: str
    tone: Tone
    heat: float
    """0 to 1: how strongly it is coloured. Twice as slow, or twice as fast, is as strong as it gets."""
    says: str
    """All of it in words, for who cannot see where it stands."""
    anchor: str = ""
    """Where the group's stages are shown, if they are."""

    @classmethod
    def of(cls, estimate: SlowdownEstimate, anchor: str = "") -> HeatCell:
        who = f"{estimate.pipeline} beside {beside_words(estimate)}, {estimate.what}"
        if estimate.estimate is None:
            return cls("–", "", "none", 0.0, f"{who}: no number. {estimate.reason}".rstrip(), anchor)
        tone, text = tone_of(estimate), f"{estimate.estimate:.2f}×"
        interval = interval_ends(estimate)
        told = {
            "slower": "slower than alone", "faster": "faster than alone",
            "unsure": "inconclusive, may be as fast as alone", "none": "inconclusive, it has no interval",
        }  # fmt: skip
        says = f"{who}: {text}" + (f", interval {interval}" if interval else "") + f": {told[tone]}"
        heat = min(1.0, abs(math.log2(max(estimate.estimate, 1e-3)))) if tone in ("slower", "faster") else 0.0
        return cls(text, interval, tone, heat, says, anchor)


NOT_MEASURED: Final = HeatCell("–", "", "none", 0.0, "not measured")


@dataclass(frozen=True)
class HeatMap:
    """Slowdown by one measure: whose row it is suffers, whose column it is causes."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]
    reasons: tuple[str, ...]
    """Why cells have no number."""


def heat_maps(
    estimates: Sequence[SlowdownEstimate], names: Sequence[str], anchors: Mapping[frozenset[str], str]
) -> tuple[HeatMap, ...]:
    """`anchors`: where a group is shown, by its members."""
    whole = [one for one in estimates if one.stage is None]
    return tuple(_map(what, found, names, anchors) for what in WHAT if (found := [x for x in whole if x.what == what]))


def column_of(estimate: SlowdownEstimate) -> tuple[str, ...]:
    """Beside its own copy, a pipeline is on the diagonal."""
    return (estimate.pipeline,) if estimate.own_copy else estimate.beside


def beside_words(estimate: SlowdownEstimate) -> str:
    return "its own copy" if estimate.own_copy else " + ".join(estimate.beside)


def interval_ends(estimate: SlowdownEstimate) -> str:
    """`1.48 to 1.77`; with more digits where an end that is not 1 would look like it. Beyond a tenth and a hundred,
    rounds differ so much that a figure would say nothing."""
    if estimate.low is None or estimate.high is None:
        return ""
    ends = (estimate.low, estimate.high)
    digits = next((digits for digits in (2, 3, 4) if not any(end != 1 and round(end, digits) == 1 for end in ends)), 5)
    low = "less than 0.1" if estimate.low < _LEAST else f"{estimate.low:.{digits}f}"
    high = "more than 100" if estimate.high > _MOST else f"{estimate.high:.{digits}f}"
    return f"{low} to {high}"


def tone_of(estimate: SlowdownEstimate) -> Tone:
    if estimate.estimate is None or estimate.low is None:
        return "none"
    return "unsure" if estimate.slower is None else "slower" if estimate.slower else "faster"


def group_of(estimate: SlowdownEstimate) -> frozenset[str]:
    """Members of the group that it was measured in."""
    beside = (copy_of(estimate.pipeline),) if estimate.own_copy else estimate.beside
    return frozenset((estimate.pipeline, *beside))


def _map(
    what: str, estimates: Sequence[SlowdownEstimate], names: Sequence[str], anchors: Mapping[frozenset[str], str]
) -> HeatMap:
    cells: dict[tuple[str, tuple[str, ...]], HeatCell] = {}
    for one in estimates:
        cells.setdefault((one.pipeline, column_of(one)), HeatCell.of(one, anchors.get(group_of(one), "")))
    rows = [
        name for name in dict.fromkeys([*names, *(who for who, _ in cells)]) if any(who == name for who, _ in cells)
    ]
    seen = {beside for _, beside in cells}
    columns = dict.fromkeys([*((name,) for name in rows if (name,) in seen), *(beside for _, beside in cells)])
    told = (f"{one.pipeline} beside {beside_words(one)}, {one.what}: {one.reason}" for one in estimates if one.reason)
    return HeatMap(
        TITLES[what],
        tuple(" + ".join(column) for column in columns),
        tuple((who, tuple(cells.get((who, column), NOT_MEASURED) for column in columns)) for who in rows),
        tuple(dict.fromkeys(told))[:_MOST_REASONS],
    )


_LEAST_POINTS = 2
_MOST_ROWS = 60


@dataclass(frozen=True)
class RateRow:
    trial: RateTrial
    ran: PipelineRun | None

    @property
    def sent(self) -> float | None:
        """Queries a second."""
        return self.trial.sent if self.trial.sent is not None else self.ran.achieved_rate if self.ran else None


@dataclass(frozen=True)
class RateCurveExhibit:
    """Latency of one pipeline against the rate that is asked of it, over each whole run, as objectives are judged."""

    pipeline: str
    says: str
    rows: tuple[RateRow, ...]
    left_out: int
    plots: tuple[Plot, ...]


def rate_curve(result: ColocationResult) -> RateCurveExhibit | None:
    if result.rates is None:
        return None
    search = result.rates
    runs = {run.label: run for run in result.runs}
    found = ((trial, runs.get(trial.run)) for trial in search.trials)
    rows = [RateRow(trial, run.of(search.pipeline) if run else None) for trial, run in found]
    mark, says = _answer(search, rows)
    return RateCurveExhibit(
        search.pipeline, says, tuple(rows[:_MOST_ROWS]), max(0, len(rows) - _MOST_ROWS), _plots(rows, mark)
    )


def _answer(search: RateSearch, rows: list[RateRow]) -> tuple[float | None, str]:
    if search.searched:
        if search.peak is None:
            return None, "No rate tried meets the objectives."
        if search.bounded:
            return search.peak, f"The highest rate found that meets the objectives is {number(search.peak)} queries/s."
        return search.peak, f"No rate tried failed: the peak is at least {number(search.peak)} queries/s."
    drawn = [row for row in rows if row.ran is not None]
    found = knee(
        [row.trial for row in drawn],
        [row.ran.whole.p99_s if row.ran else None for row in drawn],
        [row.ran.whole.throughput if row.ran else None for row in drawn],
    )
    if found is None:
        return None, ""
    return found, (
        f"The knee is at {number(found)} queries/s: at the next rate p99 is more than {KNEE:g} times that at the "
        f"lowest rate, or fewer than {BEHIND:.0%} of the queries to be sent are answered."
    )


def _plots(rows: list[RateRow], mark: float | None) -> tuple[Plot, ...]:
    drawn = [(row.trial.rate, row.ran.whole) for row in rows if row.ran is not None]
    if len({rate for rate, _ in drawn}) < _LEAST_POINTS:
        return ()
    x = tuple(rate for rate, _ in drawn)
    marks = () if mark is None else (mark,)
    latency = (
        ("p50", tuple(_milliseconds(whole.p50_s) for _, whole in drawn)),
        ("p99", tuple(_milliseconds(whole.p99_s) for _, whole in drawn)),
    )
    answered = (("answered", tuple(whole.throughput for _, whole in drawn)), ("asked", x))
    return (
        Plot("Latency", "ms", x, latency, "against the rate asked", "queries/s asked", marks=marks),
        Plot("Throughput", "1/s", x, answered, "against the rate asked", "queries/s asked", marks=marks),
    )


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else float(f"{seconds * 1e3:.4g}")


_LEAST_INTERVALS = 3
Values = Sequence[float | None]


def over_time(run: GroupRun, most: int) -> tuple[Plot, ...]:
    """Latency, throughput and what is in flight, at most so many a pipeline, all over the same stretch of time; its
    overlap is between the marks."""
    known = [one for one in run.pipelines if len(one.series.t) >= _LEAST_INTERVALS]
    ends = [at for one in known for at in (one.series.t[0], one.series.t[-1])]
    marks = () if run.alone or run.overlap is None else (run.overlap.begin, run.overlap.end)
    return tuple(plot for one in known for plot in _time_plots(one, (min(ends), max(ends)), marks)[:most])


def _time_plots(one: PipelineRun, ends: tuple[float, float], marks: tuple[float, ...]) -> list[Plot]:
    series = one.series
    rate = [("answered", series.throughput)]
    latency = [("p50", _each_in_ms(series.p50_s)), ("p99", _each_in_ms(series.p99_s))]
    waiting = [("in flight", series.in_flight)]
    kinds = (("latency", "ms", latency), ("throughput", "1/s", rate), ("queries in flight", "", waiting))
    return [
        _plot(f"{one.pipeline}: {title}", unit, series, lines, ends, marks)
        for title, unit, lines in kinds
        if any(value is not None for _, values in lines for value in values)
    ]


def _plot(
    title: str,
    unit: str,
    series: RunSeries,
    lines: Sequence[tuple[str, Values]],
    ends: tuple[float, float],
    marks: tuple[float, ...],
) -> Plot:
    # Ends without values, so that all pipelines of a run are drawn over the same stretch.
    x = (ends[0], *series.t, ends[1])
    told = "; ".join(_words(name, values, unit) for name, values in lines if any(v is not None for v in values))
    return Plot(
        title, unit, x, tuple((name, (None, *map(_short, values), None)) for name, values in lines), told, marks=marks
    )


def _words(name: str, values: Values, unit: str) -> str:
    there = [value for value in values if value is not None]
    return f"{name}: median {quantity(_short(median(there)), unit)}, highest {quantity(_short(max(there)), unit)}"


def _each_in_ms(values: Values) -> Values:
    return [None if value is None else value * 1e3 for value in values]


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
