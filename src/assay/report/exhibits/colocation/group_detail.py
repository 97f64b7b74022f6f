from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from assay.analysis.colocation.colocation_result import ColocationResult
from assay.analysis.colocation.group_run import GroupRun
from assay.analysis.colocation.pipeline_run import PipelineRun
from assay.report.exhibits.colocation.over_time import over_time
from assay.report.exhibits.colocation.stage_rows import PipelineStageRows, group_scale, pipeline_stage_rows
from assay.report.exhibits.colocation.time_line import TimeLine, time_line
from assay.report.exhibits.plot import Plot
from assay.report.page_limits import PageLimits
from assay.report.svg.lanes import lanes_svg
from assay.report.svg.tick import Tick


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
        warnings=_warnings(runs),
        ticks=scale.ticks() if scale else (),
        stages=tuple(one for one in rows if one.rows),
        rounds=rounds,
        left_out=len(runs) - len(rounds),
        open=open,
    )


def run_detail(result: ColocationResult, run: GroupRun, limits: PageLimits) -> RunDetail:
    line = time_line(result, run, limits.spans)
    return RunDetail(run, line, lanes_svg(line) if line else Markup(""), over_time(run, limits.series))


def _warnings(runs: Sequence[GroupRun]) -> tuple[str, ...]:
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
