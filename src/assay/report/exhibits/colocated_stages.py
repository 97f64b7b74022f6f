from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from markupsafe import Markup

from assay.analysis.colocation.colocation_result import ColocationResult, GroupRun, KeptContrast
from assay.analysis.colocation.pipeline_run import StageWindow, pool_shares
from assay.analysis.colocation.slowdown import SlowdownEstimate, copy_of, original
from assay.report.exhibits.heat_map import HeatCell
from assay.report.exhibits.time_line import TimeScale
from assay.report.svg.distributions import two_distributions


@dataclass(frozen=True)
class StageSides:
    """A pipeline's stages alone and in one company: over the same windows where the two were contrasted, otherwise each
    over its own, and it says which."""

    alone: tuple[StageWindow, ...]
    alone_queries: int
    alone_basis: str
    together: tuple[StageWindow, ...]
    together_queries: int
    together_basis: str

    @classmethod
    def of(cls, result: ColocationResult, members: Sequence[str], name: str, *, queries: bool = False) -> StageSides:
        """`queries`: only of stretches in which queries were counted, not calls of stages alone."""
        contrast = result.contrast(name, members)
        if contrast is not None and (contrast.together.queries or not queries):
            return _of_contrast(contrast)
        # A copy is compared with what it is a copy of.
        alone = _of_runs(result.alone(original(name)), original(name))
        return cls(*alone, *_of_runs(result.rounds(tuple(members)), name))

    def of_stage(self, id: int) -> tuple[list[StageWindow], list[StageWindow]]:
        """Alone and together; of several rounds one each."""
        sides = (self.alone, self.together)
        alone, together = ([one for one in side if one.id == id and one.calls] for side in sides)
        return alone, together


def _of_contrast(contrast: KeptContrast) -> StageSides:
    alone, together = contrast.alone, contrast.together
    if contrast.paired:
        # Calls of stages can be the same where no whole query lies in a window.
        counted, of_what = together.queries, "queries"
        if not counted:
            counted, of_what = max(stage.calls for stage in together.stages), "calls"
        same = f"the same {counted:,} {of_what}"
        return StageSides(
            alone.stages, alone.queries, same, together.stages, together.queries, f"{same}, {together.seconds:.3g} s"
        )
    return StageSides(
        alone.stages, alone.queries, _basis(alone.queries, alone.seconds),
        together.stages, together.queries, _basis(together.queries, together.seconds),
    )  # fmt: skip


def _of_runs(runs: Sequence[GroupRun], name: str) -> tuple[tuple[StageWindow, ...], int, str]:
    ran = [one for run in runs if (one := run.of(name))]
    seconds = [one.window.seconds for one in ran if one.window.seconds is not None]
    queries = sum(one.window.completed for one in ran)
    if len(seconds) > 1:
        basis = f"{queries:,} queries in {len(seconds)} rounds of about {median(seconds):.3g} s"
    else:
        basis = _basis(queries, sum(seconds)) if seconds else ""
    return tuple(stage for one in ran for stage in one.stages), queries, basis


def _basis(queries: int, seconds: float) -> str:
    return f"{queries:,} {'query' if queries == 1 else 'queries'} in {seconds:.3g} s"


_COLOURS = 8
_MOST_COMPANIES = 12


@dataclass(frozen=True)
class BarPart:
    name: str
    colour: int
    """Number of the colour, 0 to 7; -1: several stages together."""
    seconds: float
    """Seconds of a query in this stage."""
    share: float
    """Share of its bar, 0 to 1."""


@dataclass(frozen=True)
class StageBar:
    """Time that a query spent in stages."""

    label: str
    seconds: float
    length: float
    """Length as a share of the longest bar of its pipeline."""
    parts: tuple[BarPart, ...]
    basis: str
    """What it was measured over."""


@dataclass(frozen=True)
class Company:
    """A pipeline beside others, and alone as far as that was measured."""

    label: str
    bars: tuple[StageBar, ...]
    relative: float | None
    """Time together over time alone."""


@dataclass(frozen=True)
class PipelineBars:
    """Where one pipeline's time goes in each company, on one scale of its own."""

    pipeline: str
    companies: tuple[Company, ...]
    left_out: int

    @property
    def legend(self) -> tuple[BarPart, ...]:
        """Parts of the first bar stand for all: stages keep their colours."""
        return self.companies[0].bars[0].parts


def pipeline_bars(result: ColocationResult) -> tuple[PipelineBars, ...]:
    """Bars of all pipelines; none for a search of rates, in which nothing runs beside anything."""
    if result.rates is not None:
        return ()
    named = [one.name for one in result.pipelines] or list(result.names)
    made = (_bars(result, name) for name in named)
    return tuple(bars for bars in made if bars.companies)


def _bars(result: ColocationResult, name: str) -> PipelineBars:
    order = result.stage_order(name)
    found: list[tuple[str, list[tuple[str, dict[int, float], str]]]] = []
    names: dict[int, str] = {}
    for group in (group for group in result.groups if name in group):
        sides = StageSides.of(result, group, name, queries=True)
        others = [other for other in group if other != name]
        label = "beside " + ("its own copy" if others == [copy_of(name)] else " + ".join(others))
        names |= {stage.id: stage.name for stage in sides.together}
        drawn = [
            (words, busy, basis)
            for words, busy, basis in (
                ("alone", _a_query(sides.alone, sides.alone_queries), sides.alone_basis),
                (label, _a_query(sides.together, sides.together_queries), sides.together_basis),
            )
            if math.fsum(busy.values()) > 0
        ]
        if drawn:
            found.append((label, drawn))
    longest = max((math.fsum(busy.values()) for _, drawn in found for _, busy, _ in drawn), default=0.0)
    kept = _choose_stages(order, [busy for _, drawn in found for _, busy, _ in drawn])
    companies = []
    for label, drawn in found[:_MOST_COMPANIES]:
        bars = tuple(_bar(words, busy, basis, longest, order, kept, names) for words, busy, basis in drawn)
        companies.append(Company(label, bars, bars[1].seconds / bars[0].seconds if len(bars) == 2 else None))
    return PipelineBars(name, tuple(companies), max(0, len(found) - _MOST_COMPANIES))


def _a_query(stages: Sequence[StageWindow], queries: int) -> dict[int, float]:
    """Seconds in each stage, divided by the queries."""
    if not queries:
        return {}
    ids = dict.fromkeys(stage.id for stage in stages)
    return {id: math.fsum(stage.busy_s for stage in stages if stage.id == id) / queries for id in ids}


def _choose_stages(order: Sequence[int], bars: Sequence[Mapping[int, float]]) -> set[int]:
    """Stages with a part of their own: all, or those that take longest if there are more than colours."""
    if len(order) <= _COLOURS:
        return set(order)
    longest = sorted(order, key=lambda id: -max((bar.get(id, 0.0) for bar in bars), default=0.0))
    return set(longest[: _COLOURS - 1])


def _bar(
    label: str,
    busy: Mapping[int, float],
    basis: str,
    longest: float,
    order: Sequence[int],
    kept: set[int],
    names: Mapping[int, str],
) -> StageBar:
    total = math.fsum(busy.values())
    parts = [
        BarPart(names.get(id, f"stage {id}"), place % _COLOURS, busy[id], busy[id] / total)
        for place, id in enumerate(order)
        if id in kept and busy.get(id, 0.0) > 0
    ]
    rest = [seconds for id, seconds in busy.items() if id not in kept and seconds > 0]
    if rest:
        parts.append(BarPart(f"{len(rest)} other stages", -1, math.fsum(rest), math.fsum(rest) / total))
    return StageBar(label, total, total / longest, tuple(parts), basis)


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
