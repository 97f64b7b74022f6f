from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.analysis.colocation.colocation_result import ColocationResult
from assay.analysis.colocation.group_run import GroupRun
from assay.analysis.colocation.pipeline_run import PipelineRun

_MOST_PARTS = 8
"""Stages with a part of their own: as many as there are colours."""
_MOST_BARS = 24


@dataclass(frozen=True)
class BarPart:
    name: str
    colour: int
    """Number of the colour, 0 to 7; -1: several stages together."""
    seconds: float
    """Of a query."""
    share: float
    """Of its bar."""


@dataclass(frozen=True)
class StageBar:
    """Time in stages a query took, in one company."""

    label: str
    seconds: float
    length: float
    """Of the longest bar of its pipeline."""
    relative: float | None
    """To the same pipeline alone; None where that is not known."""
    parts: tuple[BarPart, ...]
    basis: str
    """What it was measured over: `790 queries in 7.9 s`."""


@dataclass(frozen=True)
class PipelineBars:
    """Where one pipeline's time goes, alone and in each company, on one scale of its own."""

    pipeline: str
    bars: tuple[StageBar, ...]
    left_out: int


def pipeline_bars(result: ColocationResult) -> tuple[PipelineBars, ...]:
    named = [one.name for one in result.pipelines] or list(result.names)
    made = (_bars(result, name) for name in named)
    return tuple(bars for bars in made if bars.bars)


def _bars(result: ColocationResult, name: str) -> PipelineBars:
    companies: list[tuple[str, Sequence[GroupRun]]] = [("alone", result.alone(name))]
    for group in result.groups:
        if name in group:
            others = [other for other in group if other != name]
            words = "its own copy" if others == [f"{name} (copy)"] else " + ".join(others)
            companies.append((f"beside {words}", result.rounds(group)))
    if result.rates is not None:
        companies = []
    drawn = [
        (label, parts, basis) for label, runs in companies for parts, basis in [_parts(result, name, runs)] if parts
    ]
    longest = max((math.fsum(part.seconds for part in parts) for _, parts, _ in drawn), default=0.0)
    alone = next((math.fsum(part.seconds for part in parts) for label, parts, _ in drawn if label == "alone"), None)
    bars = []
    for label, parts, basis in drawn[:_MOST_BARS]:
        total = math.fsum(part.seconds for part in parts)
        relative = total / alone if alone and label != "alone" else None
        bars.append(StageBar(label, total, total / longest, relative, parts, basis))
    return PipelineBars(name, tuple(bars), max(0, len(drawn) - _MOST_BARS))


def _parts(result: ColocationResult, name: str, runs: Sequence[GroupRun]) -> tuple[tuple[BarPart, ...], str]:
    ran = [one for run in runs for one in run.pipelines if one.pipeline == name and one.window.completed]
    queries = sum(one.window.completed for one in ran)
    busy = {stage: _busy(ran, stage) / queries for stage in result.stage_order(name)} if queries else {}
    total = math.fsum(busy.values())
    if not total > 0:
        return (), ""
    names = {stage.id: stage.name for one in ran for stage in one.stages}
    order = list(result.stage_order(name))
    # The longest have a part each; the rest is one.
    kept = sorted(order, key=lambda id: -busy[id])
    kept = kept if len(kept) <= _MOST_PARTS else kept[: _MOST_PARTS - 1]
    parts = [
        BarPart(names.get(id, f"stage {id}"), order.index(id) % _MOST_PARTS, busy[id], busy[id] / total)
        for id in order
        if id in kept and busy[id] > 0
    ]
    rest = [busy[id] for id in order if id not in kept]
    if math.fsum(rest) > 0:
        parts.append(BarPart(f"{len(rest)} other stages", -1, math.fsum(rest), math.fsum(rest) / total))
    seconds = math.fsum(one.window.seconds or 0.0 for one in ran)
    return tuple(parts), f"{queries:,} queries in {seconds:.3g} s"


def _busy(ran: Sequence[PipelineRun], stage: int) -> float:
    return math.fsum(one.busy_s for run in ran for one in run.stages if one.id == stage)
