from __future__ import annotations

from dataclasses import dataclass

from assay.analysis.colocation.colocated_pipeline import ColocatedPipeline
from assay.analysis.colocation.colocation_result import ColocationResult
from assay.analysis.colocation.group_run import GroupRun
from assay.report.exhibits.colocation.findings import ColocationFinding, findings
from assay.report.exhibits.colocation.group_detail import GroupDetail, RunDetail, group_detail, run_detail
from assay.report.exhibits.colocation.heat_map import HeatMap, heat_maps
from assay.report.exhibits.colocation.rate_curve import RateCurveExhibit, rate_curve
from assay.report.exhibits.colocation.stage_bars import PipelineBars, pipeline_bars
from assay.report.exhibits.plot import Plot
from assay.report.page_limits import PageLimits

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
