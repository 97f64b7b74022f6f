from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.analysis.colocation.colocation_result import ColocationResult
from assay.analysis.colocation.slowdown_estimate import copy_of
from assay.analysis.colocation.stage_window import StageWindow
from assay.report.exhibits.colocation.stage_sides import StageSides

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
