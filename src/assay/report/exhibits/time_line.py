from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from assay.analysis.colocation.colocation_result import ColocationResult, GroupRun, PolicyMark
from assay.analysis.colocation.pipeline_run import BusySpan, PipelineRun
from assay.report.quantity import quantity
from assay.report.svg.axes import Tick

_MOST_LABELS = 5


@dataclass(frozen=True)
class TimeScale:
    """A logarithmic scale of times in seconds that several distributions share, cut into bins of equal ratio."""

    edges: tuple[float, ...]

    @classmethod
    def of(cls, stretches: Sequence[tuple[float, float]], bins: int) -> TimeScale | None:
        """Holds all `stretches`; None where there are none."""
        if not stretches:
            return None
        low, high = math.log(min(low for low, _ in stretches)), math.log(max(high for _, high in stretches))
        if high - low < 0.1:
            low, high = low - 0.05, high + 0.05
        return cls(tuple(math.exp(low + (high - low) * i / bins) for i in range(bins + 1)))

    def share(self, seconds: float) -> float:
        low, high = math.log(self.edges[0]), math.log(self.edges[-1])
        return min(1.0, max(0.0, (math.log(max(seconds, self.edges[0])) - low) / (high - low)))

    def decades(self) -> tuple[float, ...]:
        """Powers of ten on it, as shares of its length."""
        return tuple(self.share(10.0**power) for power in self._powers())

    def ticks(self) -> tuple[Tick, ...]:
        """Labels of powers of ten, or of both ends where it holds fewer than two."""
        powers = self._powers()
        if len(powers) < 2:
            ends = (self.edges[0], self.edges[-1])
            return tuple(Tick(self.share(end), quantity(float(f"{end:.2g}"), "s")) for end in ends)
        shown = powers[:: math.ceil(len(powers) / _MOST_LABELS)]
        return tuple(Tick(self.share(10.0**power), quantity(10.0**power, "s")) for power in shown)

    def _powers(self) -> list[int]:
        first, last = math.ceil(math.log10(self.edges[0]) - 1e-9), math.floor(math.log10(self.edges[-1]) + 1e-9)
        return list(range(first, last + 1))


Stretch = tuple[float, float]
_MOST_MARKS = 60
_LET_GO = ("resume", "start")


@dataclass(frozen=True)
class LaneStage:
    name: str
    colour: int
    busy: tuple[BusySpan, ...]
    """When it was at work, in seconds from the run's release."""


@dataclass(frozen=True)
class Lane:
    """One pipeline on a time line."""

    pipeline: str
    span: Stretch | None
    stages: tuple[LaneStage, ...]
    held: tuple[Stretch, ...]
    """While a policy kept it from running."""
    marks: tuple[PolicyMark, ...]


@dataclass(frozen=True)
class TimeLine:
    """When each pipeline of one run was at work."""

    run: GroupRun
    ends: Stretch
    lanes: tuple[Lane, ...]
    marks: tuple[PolicyMark, ...]
    """Those that are listed, the earliest first."""
    more_marks: int

    @property
    def overlap(self) -> Stretch | None:
        """While all ran; None for one that ran alone."""
        found = self.run.overlap
        return None if found is None or self.run.alone else (found.begin, found.end)


def time_line(result: ColocationResult, run: GroupRun, most_spans: int) -> TimeLine | None:
    """None where nothing is known of when a stage was at work."""
    moments = [at for one in run.pipelines for at in one.span or ()]
    moments += [at for one in run.pipelines for span in one.spans for at in (span.begin, span.end)]
    moments += [mark.t for mark in run.marks]
    if not any(one.spans or one.span for one in run.pipelines) or min(moments) >= max(moments):
        return None
    ends = (min(0.0, *moments), max(moments))
    marks = sorted(run.marks, key=lambda mark: mark.t)
    lanes = tuple(_lane(result, one, marks, ends, most_spans) for one in run.pipelines)
    return TimeLine(run, ends, lanes, tuple(marks[:_MOST_MARKS]), max(0, len(marks) - _MOST_MARKS))


def _lane(
    result: ColocationResult, one: PipelineRun, marks: Sequence[PolicyMark], ends: Stretch, most_spans: int
) -> Lane:
    order = result.stage_order(one.pipeline)
    names = {stage.id: stage.name for stage in one.stages}
    busy: dict[int, list[BusySpan]] = {}
    for span in _fewer(one.spans, most_spans, ends):
        busy.setdefault(span.stage, []).append(span)
    places = {id: number for number, id in enumerate(dict.fromkeys([*order, *busy]))}
    stages = tuple(
        LaneStage(names.get(id, f"stage {id}"), number % 8, tuple(busy[id]))
        for id, number in places.items()
        if id in busy
    )
    mine = tuple(mark for mark in marks if mark.pipeline == one.pipeline)
    return Lane(one.pipeline, one.span, stages, _find_held(mine, one.span or ends), mine)


def _find_held(marks: Sequence[PolicyMark], span: Stretch) -> tuple[Stretch, ...]:
    """Stretches for which a policy held it: from a pause until it went on or ended, from a delay to its start. What was
    refused held nothing."""
    found: list[Stretch] = []
    since: float | None = None
    until = span[1]
    for mark in marks:
        if mark.refused:
            continue
        if mark.action in ("pause", "delay") and since is None:
            since, until = mark.t, span[0] if mark.action == "delay" and span[0] > mark.t else span[1]
        elif mark.action in _LET_GO and since is not None:
            found.append((since, min(mark.t, until)))
            since = None
    if since is not None and since < until:
        found.append((since, until))
    return tuple(found)


def _fewer(spans: Sequence[BusySpan], most: int, ends: Stretch) -> list[BusySpan]:
    """Neighbours of one stage joined over ever longer gaps until few enough are left."""
    ordered = sorted(spans, key=lambda span: (span.stage, span.begin))
    gap = (ends[1] - ends[0]) / 2000
    while len(ordered) > most and gap < ends[1] - ends[0]:
        joined = [ordered[0]]
        for _, span in pairwise(ordered):
            last = joined[-1]
            if span.stage == last.stage and span.begin - last.end <= gap:
                joined[-1] = BusySpan(span.stage, last.begin, max(last.end, span.end), last.busy_s + span.busy_s)
            else:
                joined.append(span)
        ordered, gap = joined, gap * 2
    return ordered
