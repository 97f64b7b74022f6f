from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from markupsafe import Markup

from assay.analysis.colocation.colocation_result import ColocationResult
from assay.analysis.colocation.slowdown_estimate import SlowdownEstimate, original
from assay.analysis.colocation.stage_window import StageWindow
from assay.analysis.colocation.time_histogram import pool_shares
from assay.report.exhibits.colocation.heat_map import HeatCell
from assay.report.exhibits.colocation.stage_sides import StageSides
from assay.report.exhibits.colocation.time_scale import TimeScale
from assay.report.svg.two_distributions import two_distributions


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
    """Slowdowns of p50 and of p99, as far as they were estimated."""
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
    """A scale from the shortest to the longest call of any stage of a group, alone and together."""
    sides = [StageSides.of(result, members, name) for name in members]
    stages = [stage for side in sides for stage in (*side.alone, *side.together)]
    return TimeScale.of([ends for stage in stages if (ends := stage.histogram.ends)], bins)


def pipeline_stage_rows(
    result: ColocationResult, members: Sequence[str], name: str, scale: TimeScale | None, most: int
) -> PipelineStageRows:
    """Rows of a pipeline's stages; where there are more than `most`, those that take longest."""
    sides = StageSides.of(result, members, name)
    order = result.stage_order(name)
    longest = sorted(order, key=lambda id: -sum(one.busy_s for one in sides.together if one.id == id))
    kept = set(longest[:most])
    rows = []
    for number, id in enumerate(order):
        before, after = sides.of_stage(id) if id in kept else ([], [])
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
    return PipelineStageRows(name, tuple(rows), sides.alone_basis, sides.together_basis, max(0, len(order) - most))


def _estimates(result: ColocationResult, members: Sequence[str], name: str, stage: int) -> list[SlowdownEstimate]:
    others = tuple(other for other in members if other != name)
    wanted = {others, tuple(original(other) for other in others)}
    mine = [one for one in result.estimates if one.pipeline == name and one.stage == stage and one.beside in wanted]
    return [one for what in ("p50", "p99") for one in mine if one.what == what]


def _drawing(
    label: str, before: Sequence[StageWindow], after: Sequence[StageWindow], scale: TimeScale | None
) -> Markup:
    if scale is None:
        return Markup("")
    alone = pool_shares((one.histogram for one in before), scale.edges)
    beside = pool_shares((one.histogram for one in after), scale.edges)
    return two_distributions(alone, beside, scale, label)
