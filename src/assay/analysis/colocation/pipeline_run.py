from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from assay.analysis.fields import Fields, finite

MOST_BINS = 200
_SHORTEST_S = 1e-9
"""Where a logarithmic scale begins: clocks count nanoseconds, and a first edge may be 0."""


@dataclass(frozen=True)
class TimeHistogram:
    """Counts of times between edges in seconds that rise."""

    edges: tuple[float, ...] = ()
    counts: tuple[float, ...] = ()

    @classmethod
    def read(cls, written: Fields) -> TimeHistogram:
        """Empty where edges and counts do not fit together."""
        edges, counts = written.numbers("edges_us", MOST_BINS + 1), written.numbers("counts", MOST_BINS)
        known = tuple(max(edge / 1e6, _SHORTEST_S) for edge in edges if edge is not None)
        there = tuple(count for count in counts if count is not None and count >= 0)
        fits = len(known) == len(edges) == len(counts) + 1 and len(there) == len(counts)
        rising = all(before < after for before, after in pairwise(known))
        return cls(known, there) if fits and rising and any(there) else cls()

    @property
    def ends(self) -> tuple[float, float] | None:
        """Edges of the first and the last bin that holds something."""
        held = [index for index, count in enumerate(self.counts) if count]
        return (self.edges[held[0]], self.edges[held[-1] + 1]) if held else None

    def shares(self, edges: Sequence[float]) -> tuple[float, ...]:
        """Shares of the whole between other edges. What a bin holds is spread evenly over its logarithm."""
        import numpy as np  # Reading results needs no statistics; only drawing these does.

        if not self.counts:
            return (0.0,) * (len(edges) - 1)
        up_to = np.concatenate([[0.0], np.cumsum(self.counts)])
        reached = np.interp(np.log(edges), np.log(self.edges), up_to / up_to[-1])
        return tuple(float(share) for share in np.diff(reached))


def pool_shares(histograms: Iterable[TimeHistogram], edges: Sequence[float]) -> tuple[float, ...]:
    """Shares between `edges` over several rounds together; a round weighs as much as it has calls."""
    parts = [(math.fsum(one.counts), one.shares(edges)) for one in histograms if one.counts]
    total = math.fsum(weight for weight, _ in parts)
    if not total:
        return ()
    return tuple(math.fsum(weight * shares[i] for weight, shares in parts) / total for i in range(len(edges) - 1))


@dataclass(frozen=True)
class StageWindow:
    """One stage of one pipeline in one run, over the window that is compared. Times in seconds."""

    id: int
    name: str
    calls: int
    mean_s: float | None
    p50_s: float | None
    p99_s: float | None
    histogram: TimeHistogram = field(default_factory=TimeHistogram, repr=False)

    @classmethod
    def read(cls, written: Fields) -> StageWindow | None:
        id = written.whole("id")
        if id is None:
            return None
        window = written.inner("window")
        return cls._of(id, written, window, window.count("calls"))

    @classmethod
    def read_flat(cls, written: Fields) -> StageWindow | None:
        """Reads the form in which a contrast has stages: the figures stand beside the name, not in `window`."""
        id = written.whole("id")
        return None if id is None else cls._of(id, written, written, written.count("count"))

    @classmethod
    def _of(cls, id: int, written: Fields, window: Fields, calls: int) -> StageWindow:
        return cls(
            id=id,
            name=written.text("name") or f"stage {id}",
            calls=calls,
            mean_s=window.seconds("mean_us"),
            p50_s=window.seconds("p50_us"),
            p99_s=window.seconds("p99_us"),
            histogram=TimeHistogram.read(written.inner("histogram")),
        )

    @property
    def busy_s(self) -> float:
        """Time spent in it, over all calls."""
        return self.calls * (self.mean_s or 0.0)


_MOST_STAGES = 200
_MOST_POINTS = 500
_MOST_SPANS = 2000
_MOST_WARNINGS = 20


@dataclass(frozen=True)
class LoadFigures:
    """What came back in a stretch of a run. Times in seconds, throughput in queries a second; None: not known."""

    seconds: float | None
    throughput: float | None
    completed: int
    p50_s: float | None
    p99_s: float | None


@dataclass(frozen=True)
class BusySpan:
    """A stretch of a run in which a stage was at work; times in seconds from the run's release."""

    stage: int
    begin: float
    end: float
    busy_s: float
    """Seconds of it in which a call was really under way: neighbours may have been joined over a gap."""


@dataclass(frozen=True)
class RunSeries:
    """How a run went, point by point; `t` in seconds from its release, a value that is not known as None."""

    t: tuple[float, ...] = ()
    throughput: tuple[float | None, ...] = ()
    p50_s: tuple[float | None, ...] = ()
    p99_s: tuple[float | None, ...] = ()
    in_flight: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class PipelineRun:
    """One pipeline in one run of a group."""

    pipeline: str
    ended: str
    """How: `finished`, or what else is written."""
    reason: str
    """Why it did not end well, or empty."""
    valid: bool | None
    """Whether it met its objectives."""
    asked_rate: float | None
    achieved_rate: float | None
    span: tuple[float, float] | None
    """Its first query and its last answer, in seconds from the run's release."""
    whole: LoadFigures
    window: LoadFigures
    """Over the stretch in which all pipelines of the group ran."""
    stages: tuple[StageWindow, ...]
    series: RunSeries = field(repr=False)
    spans: tuple[BusySpan, ...] = field(repr=False)
    warnings: tuple[str, ...] = ()

    @classmethod
    def read(cls, written: Fields) -> PipelineRun | None:
        name = written.text("pipeline")
        if not name:
            return None
        ending, latency, window = (written.inner(part) for part in ("ending", "latency", "window"))
        return cls(
            pipeline=name,
            ended=ending.text("how"),
            reason=ending.sentence("reason") or "; ".join(written.sentences("reasons", _MOST_WARNINGS)),
            valid=written.flag("valid"),
            asked_rate=written.at_least_0("asked_rate"),
            achieved_rate=written.at_least_0("achieved_rate"),
            span=stretch(written.inner("span")),
            whole=LoadFigures(
                written.at_least_0("duration_s"), written.at_least_0("throughput"), written.count("completed"),
                latency.seconds("p50_us"), latency.seconds("p99_us"),
            ),
            window=LoadFigures(
                window.at_least_0("seconds"), window.at_least_0("throughput"), window.count("completed"),
                window.seconds("p50_us"), window.seconds("p99_us"),
            ),
            stages=written.each("stages", _MOST_STAGES, StageWindow.read),
            series=_series(written.inner("series")),
            spans=_spans(written.list_of("lanes")),
            warnings=written.sentences("warnings", _MOST_WARNINGS),
        )  # fmt: skip

    @property
    def ended_well(self) -> bool:
        return self.ended == "finished"


def stretch(written: Fields) -> tuple[float, float] | None:
    """`begin_t` and `end_t`, if the one is before the other."""
    begin, end = written.number("begin_t"), written.number("end_t")
    return (begin, end) if begin is not None and end is not None and begin < end else None


def _series(written: Fields) -> RunSeries:
    t = written.numbers("t", _MOST_POINTS)
    known = [i for i, at in enumerate(t) if at is not None]

    def column(name: str, scale: float = 1.0) -> tuple[float | None, ...]:
        values = written.numbers(name, _MOST_POINTS)
        there = (values[i] if i < len(values) else None for i in known)
        return tuple(None if value is None else value * scale for value in there)

    return RunSeries(
        tuple(at for at in t if at is not None),
        column("throughput"), column("p50_us", 1e-6), column("p99_us", 1e-6), column("in_flight"),
    )  # fmt: skip


def _spans(written: list[object]) -> tuple[BusySpan, ...]:
    found = []
    for item in written[:_MOST_SPANS]:
        if not isinstance(item, list) or len(item) < 3:
            continue
        stage, begin, end = (finite(value) for value in item[:3])
        if stage is not None and begin is not None and end is not None and stage.is_integer() and begin <= end:
            busy = finite(item[4]) if len(item) > 4 else None
            known = end - begin if busy is None else max(0.0, min(busy, end - begin))
            found.append(BusySpan(int(stage), begin, end, known))
    return tuple(found)
