from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from assay.analysis.colocation.colocation_result import ColocatedPipeline, ColocationResult, GroupRun
from assay.analysis.colocation.pipeline_run import PipelineRun
from assay.analysis.colocation.slowdown import SlowdownEstimate
from assay.report.exhibits.colocated_stages import (
    PipelineBars,
    PipelineStageRows,
    group_scale,
    pipeline_bars,
    pipeline_stage_rows,
)
from assay.report.exhibits.heat_map import (
    HeatMap,
    RateCurveExhibit,
    Tone,
    beside_words,
    column_of,
    heat_maps,
    interval_ends,
    over_time,
    rate_curve,
    tone_of,
)
from assay.report.exhibits.plots import Plot
from assay.report.exhibits.time_line import TimeLine, time_line
from assay.report.run_folder import PageLimits
from assay.report.svg.axes import Tick
from assay.report.svg.lanes import lanes_svg

_MOST = 12


@dataclass(frozen=True)
class ColocationFinding:
    tone: Tone
    says: str
    evidence: str = ""


def findings(result: ColocationResult) -> tuple[ColocationFinding, ...]:
    """The answer: who is slower beside whom, the worst first, and what is inconclusive."""
    pairs: dict[tuple[str, tuple[str, ...]], list[SlowdownEstimate]] = {}
    for one in result.estimates:
        if one.stage is None and one.estimate is not None:
            pairs.setdefault((one.pipeline, column_of(one)), []).append(one)
    told = [*_tell(pairs.values(), "slower"), *_tell(pairs.values(), "faster")]
    found = told[:_MOST]
    if len(told) > _MOST:
        found.append(ColocationFinding("none", f"{len(told) - _MOST} more are in the tables below."))
    if result.kind == "together" and len(result.names) > 1:
        says = "These pipelines ran only together. To see who slows whom, measure each alone as well: --matrix."
        found.append(ColocationFinding("none", says))
    return (*found, *_unsure(list(pairs.values()), bool(told)))


def _tell(pairs: Iterable[Sequence[SlowdownEstimate]], tone: Literal["slower", "faster"]) -> list[ColocationFinding]:
    """One for each pair with a measure that is certain, the largest difference first."""
    found = []
    for estimates in pairs:
        if certain := [one for one in estimates if tone_of(one) == tone]:
            first, size = certain[0], max(_size(one) for one in certain)
            says = f"{first.pipeline} is {tone} beside {beside_words(first)}"
            found.append((size, ColocationFinding(tone, says, _numbers(certain))))
    return [finding for _, finding in sorted(found, key=lambda item: -item[0])]


def _numbers(certain: Sequence[SlowdownEstimate]) -> str:
    """`throughput 1.59× (1.52 to 1.67), p99 1.57× (1.49 to 1.65); 95% intervals`."""
    told = ", ".join(f"{one.what} {one.estimate:.2f}× ({interval_ends(one)})" for one in certain)
    shares = {one.confidence for one in certain}
    share = next(iter(shares)) if len(shares) == 1 else None
    return told + ("" if share is None else f"; {share * 100:.3g}% interval{'s' if len(certain) > 1 else ''}")


def _unsure(pairs: Sequence[Sequence[SlowdownEstimate]], any_told: bool) -> list[ColocationFinding]:
    unsure = [estimates for estimates in pairs if all(tone_of(one) == "unsure" for one in estimates)]
    if not unsure:
        return []
    if len(unsure) == len(pairs) and not any_told:
        says = "Can't tell whether any pipeline is slower beside another: each may be as fast as alone (1×)."
    elif len(unsure) == 1:
        first = unsure[0][0]
        pair = f"{first.pipeline} is slower beside {beside_words(first)}"
        says = f"Can't tell whether {pair}: it may be as fast as alone (1×)."
    else:
        says = f"{len(unsure)} cases are inconclusive: each may be as fast as alone (1×)."
    return [ColocationFinding("unsure", says, "try more rounds: --repeat")]


def _size(estimate: SlowdownEstimate) -> float:
    value = estimate.estimate or 1.0
    return value if value >= 1 else 1 / max(value, 1e-3)


@dataclass(frozen=True)
class RunDetail:
    """One round of a group, as it went."""

    run: GroupRun
    line: TimeLine | None
    lanes: Markup
    plots: tuple[Plot, ...]

    @property
    def overlap_words(self) -> str:
        """`All ran together for 7.9 s: 98% of api, 92% of batch.`"""
        overlap = self.run.overlap
        if overlap is None or self.run.alone:
            return ""
        shares = ", ".join(f"{_share(share)} of {name}" for name, share in overlap.shares.items())
        return f"All ran together for {overlap.seconds:.3g} s" + (f": {shares}." if shares else ".")


@dataclass(frozen=True)
class GroupDetail:
    """A group of pipelines: their stages alone and together, and how its rounds went."""

    anchor: str
    title: str
    warnings: tuple[str, ...]
    ticks: tuple[Tick, ...]
    """Ticks of the scale that all its distributions share."""
    stages: tuple[PipelineStageRows, ...]
    rounds: tuple[RunDetail, ...]
    left_out: int
    """Rounds that are not drawn."""
    open: bool

    @property
    def plots(self) -> tuple[Plot, ...]:
        return tuple(plot for one in self.rounds for plot in one.plots)


def group_detail(
    result: ColocationResult, members: tuple[str, ...], anchor: str, limits: PageLimits, drawn: int, open: bool
) -> GroupDetail:
    """`drawn`: rounds that are shown as they went."""
    runs = result.rounds(members)
    scale = group_scale(result, members, limits.bins)
    rows = (pipeline_stage_rows(result, members, name, scale, limits.stages) for name in members)
    rounds = tuple(run_detail(result, run, limits) for run in runs[:drawn])
    return GroupDetail(
        anchor=anchor,
        title=" + ".join(members),
        warnings=_run_warnings(runs),
        ticks=scale.ticks() if scale else (),
        stages=tuple(one for one in rows if one.rows),
        rounds=rounds,
        left_out=len(runs) - len(rounds),
        open=open,
    )


def run_detail(result: ColocationResult, run: GroupRun, limits: PageLimits) -> RunDetail:
    line = time_line(result, run, limits.spans)
    return RunDetail(run, line, lanes_svg(line) if line else Markup(""), over_time(run, limits.series))


def _run_warnings(runs: Sequence[GroupRun]) -> tuple[str, ...]:
    """What a person must know, each sentence once; of several rounds with those it was so in."""
    found: dict[str, list[int]] = {}
    for run in runs:
        for words in (*run.warnings, *(words for one in run.pipelines for words in _of_pipeline(one))):
            found.setdefault(words, []).append(run.round)
    if len(runs) < 2:
        return tuple(found)
    return tuple(f"{_name_rounds(rounds, len(runs))}: {words}" for words, rounds in found.items())


def _of_pipeline(one: PipelineRun) -> list[str]:
    why = f": {one.reason}" if one.reason else ""
    found = []
    if not one.ended_well:
        found.append(f"{one.pipeline} did not end well ({one.ended or 'how is not written'}){why}")
    elif one.valid is False:
        found.append(f"{one.pipeline} did not meet its objectives{why}")
    return [*found, *(f"{one.pipeline}: {warning}" for warning in one.warnings)]


def _name_rounds(rounds: Sequence[int], of: int) -> str:
    once = list(dict.fromkeys(rounds))
    if len(once) == of:
        return "both rounds" if of == 2 else f"all {of} rounds"
    return f"round {once[0]}" if len(once) == 1 else f"rounds {', '.join(map(str, once))}"


def _share(share: float) -> str:
    return f"{min(share, 1.0) * 100:.3g}%"


_MOST_GROUPS = 80
_MOST_RUNS = 120
_MOST_WARNINGS = 20


@dataclass(frozen=True)
class ColocationExhibit:
    """All that is shown of one `colocation.json`."""

    result: ColocationResult
    findings: tuple[ColocationFinding, ...]
    warnings: tuple[str, ...]
    maps: tuple[HeatMap, ...]
    compared: str
    """What slowdowns rest on: windows and rounds."""
    rates: RateCurveExhibit | None
    bars: tuple[PipelineBars, ...]
    groups: tuple[GroupDetail, ...]
    trials: tuple[RunDetail, ...]
    """Runs of a search of rates, as they went."""
    runs: tuple[GroupRun, ...]
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, result: ColocationResult, prefix: str, limits: PageLimits) -> ColocationExhibit:
        """`prefix`: beginning of its anchors, which are unique in a page."""
        searched = result.rates is not None
        members = result.groups[:_MOST_GROUPS] if not searched else ()
        drawn = min(limits.rounds, max(0, limits.runs // max(1, len(members))))
        groups = tuple(
            group_detail(
                result, group, f"{prefix}group-{number}", limits,
                drawn or (1 if number <= limits.runs else 0), len(members) == 1,
            )
            for number, group in enumerate(members, 1)
        )  # fmt: skip
        anchors = {frozenset(group): detail.anchor for group, detail in zip(members, groups, strict=True)}
        counted = (
            (len(result.groups) if not searched else 0, _MOST_GROUPS, "groups"),
            (len(result.runs), _MOST_RUNS, "runs in the table"),
            (len(result.runs) if searched else 0, limits.runs, "rates over time"),
        )
        left_out = [f"{there - most} of {there} {what}" for there, most, what in counted if there > most]
        return cls(
            result=result,
            findings=findings(result),
            warnings=_warnings(result, groups),
            maps=heat_maps(result.estimates, [one.name for one in result.pipelines], anchors),
            compared=_describe_comparison(result),
            rates=rate_curve(result),
            bars=pipeline_bars(result),
            groups=groups,
            trials=tuple(run_detail(result, run, limits) for run in result.runs[: limits.runs]) if searched else (),
            runs=result.runs[:_MOST_RUNS],
            left_out=(*result.left_out, *left_out),
        )

    @property
    def pipelines(self) -> tuple[ColocatedPipeline, ...]:
        return self.result.pipelines

    @property
    def plots(self) -> tuple[Plot, ...]:
        """Plots in the order of the page."""
        curves = self.rates.plots if self.rates else ()
        groups = (plot for one in self.groups for plot in one.plots)
        return (*curves, *groups, *(plot for one in self.trials for plot in one.plots))


def _warnings(result: ColocationResult, groups: tuple[GroupDetail, ...]) -> tuple[str, ...]:
    """Each sentence once, with the groups it is true of where there are several; then what went wrong alone."""
    titles: dict[str, list[str]] = {}
    for one in groups:
        for words in one.warnings:
            titles.setdefault(words, []).append(one.title)
    found = [f"{'; '.join(of)}: {words}" if len(groups) > 1 else words for words, of in titles.items()]
    for run in result.runs:
        if run.alone or result.rates is not None:
            found += [f"{run.label}: {warning}" for warning in run.warnings]
            found += [
                f"{run.label}: {one.pipeline} did not end well" + (f": {one.reason}" if one.reason else "")
                for one in run.pipelines
                if not one.ended_well
            ]
    found = list(dict.fromkeys(found))
    more = len(found) - _MOST_WARNINGS
    return (
        *found[:_MOST_WARNINGS],
        *((f"{more} more are told with their groups and in colocation.json",) if more > 0 else ()),
    )


def _describe_comparison(result: ColocationResult) -> str:
    seconds = [one.seconds for one in result.estimates if one.seconds is not None]
    rounds = {one.rounds for one in result.estimates if one.rounds}
    if not seconds or not rounds:
        return ""
    shortest, longest = min(seconds), max(seconds)
    window = f"{shortest:.3g} s" if f"{shortest:.3g}" == f"{longest:.3g}" else f"{shortest:.3g} to {longest:.3g} s"
    if max(rounds) == 1:
        return (
            f"Windows of {window}, one round: intervals hold what differs within that round, not from round to round."
        )
    return f"Windows of {window}, {' or '.join(str(count) for count in sorted(rounds))} rounds."
