from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from markupsafe import Markup

from assay.analysis.colocation.colocation_result import ColocationResult
from assay.analysis.colocation.group_run import GroupRun
from assay.analysis.colocation.slowdown_estimate import SlowdownEstimate
from assay.analysis.colocation.stage_window import StageWindow
from assay.analysis.colocation.time_histogram import pooled_shares
from assay.report.exhibits.colocation.heat_map import HeatCell
from assay.report.exhibits.colocation.time_scale import TimeScale
from assay.report.svg.two_distributions import two_distributions

MOST_ROWS = 40


@dataclass(frozen=True)
class StageFigures:
    """One stage over the rounds of a company. Of several rounds, a percentile is the median of theirs."""

    calls: int
    p50_s: float | None
    p99_s: float | None

    @classmethod
    def of(cls, rounds: Sequence[StageWindow]) -> StageFigures | None:
        if not rounds:
            return None
        middles = [one.p50_s for one in rounds if one.p50_s is not None]
        tails = [one.p99_s for one in rounds if one.p99_s is not None]
        return cls(
            sum(one.calls for one in rounds), median(middles) if middles else None, median(tails) if tails else None
        )


@dataclass(frozen=True)
class StageRow:
    name: str
    colour: int
    alone: StageFigures | None
    beside: StageFigures | None
    slowdowns: tuple[HeatCell, ...]
    """By p50 and by p99, as far as they were estimated."""
    drawing: Markup


@dataclass(frozen=True)
class PipelineStageRows:
    """A pipeline's stages alone and beside others, their distributions on one scale with those of its neighbours."""

    pipeline: str
    rows: tuple[StageRow, ...]
    window_alone: str
    window_beside: str
    left_out: int

    @property
    def has_alone(self) -> bool:
        return any(row.alone for row in self.rows)

    @property
    def has_slowdowns(self) -> bool:
        return any(row.slowdowns for row in self.rows)


def group_scale(result: ColocationResult, members: Sequence[str], bins: int) -> TimeScale | None:
    """From the shortest to the longest call of any stage of a group, alone and together."""
    runs = [*result.rounds(tuple(members)), *(run for name in members for run in result.alone(_original(name)))]
    stages = [stage for run in runs for one in run.pipelines if one.pipeline in members for stage in one.stages]
    return TimeScale.of([ends for stage in stages if (ends := stage.histogram.ends)], bins)


def pipeline_stage_rows(
    result: ColocationResult, members: Sequence[str], name: str, scale: TimeScale | None
) -> PipelineStageRows:
    alone, beside = result.alone(_original(name)), result.rounds(tuple(members))
    order = result.stage_order(name)
    rows = []
    for number, id in enumerate(order[:MOST_ROWS]):
        before, after = _windows(alone, _original(name), id), _windows(beside, name, id)
        if not before and not after:
            continue
        label = (after or before)[0].name
        rows.append(
            StageRow(
                label, number % 8, StageFigures.of(before), StageFigures.of(after),
                tuple(HeatCell.of(one) for one in _estimates(result, members, name, id)),
                _drawing(f"{name}, {label}", before, after, scale),
            )
        )  # fmt: skip
    return PipelineStageRows(
        name, tuple(rows), _window(alone, _original(name)), _window(beside, name), max(0, len(order) - MOST_ROWS)
    )


def _original(name: str) -> str:
    """A copy is compared with what it is a copy of."""
    return name.removesuffix(" (copy)")


def _windows(runs: Sequence[GroupRun], name: str, stage: int) -> list[StageWindow]:
    there = (one for run in runs if (ran := run.of(name)) for one in ran.stages)
    return [one for one in there if one.id == stage and one.calls]


def _estimates(result: ColocationResult, members: Sequence[str], name: str, stage: int) -> list[SlowdownEstimate]:
    others = tuple(other for other in members if other != name)
    wanted = {others, tuple(_original(other) for other in others)}
    mine = [one for one in result.estimates if one.pipeline == name and one.stage == stage and one.beside in wanted]
    return [one for what in ("p50", "p99") for one in mine if one.what == what]


def _window(runs: Sequence[GroupRun], name: str) -> str:
    """`2 rounds of 7.9 s`: what figures are of."""
    seconds = [ran.window.seconds for run in runs if (ran := run.of(name)) and ran.window.seconds is not None]
    if not seconds:
        return ""
    middle = f"{median(seconds):.3g} s"
    return middle if len(seconds) == 1 else f"{len(seconds)} rounds of about {middle}"


def _drawing(
    label: str, before: Sequence[StageWindow], after: Sequence[StageWindow], scale: TimeScale | None
) -> Markup:
    if scale is None:
        return Markup("")
    alone = pooled_shares((one.histogram for one in before), scale.edges)
    beside = pooled_shares((one.histogram for one in after), scale.edges)
    return two_distributions(alone, beside, scale, label)
