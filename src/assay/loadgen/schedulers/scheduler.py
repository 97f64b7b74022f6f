from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.errors import UsageError
from assay.names import Registry

BLOCK = 8192
"""Arrivals are drawn this many at a time: enough to make numpy cheap, few enough to stop near the end asked for."""

Arrivals = NDArray[np.int64]


class LoadScheduler(ABC):
    """When queries are sent.

    An open loop (`concurrency` is None) draws absolute times, in nanoseconds from the start, that do not depend on
    how the pipeline does. A closed loop keeps `concurrency` queries in flight and draws nothing.
    """

    concurrency: int | None = None
    rate: float | None = None
    """Queries a second asked for; None where the pipeline sets the pace."""
    seconds: float | None = None
    """Length of a schedule that ends by itself; None where it does not, or where it is not known."""
    grouped: ClassVar[bool] = False
    """A closed loop that sends `concurrency` queries at once and waits for all of them."""

    @abstractmethod
    def arrivals(self, rng: np.random.Generator) -> Iterator[Arrivals]: ...

    def ends(self, counted: bool, timed: bool) -> bool:
        """Does the schedule end, given whether a number of queries and a duration bound it?"""
        return counted or timed


def positive(name: str, value: float) -> float:
    if not value > 0:
        raise ValueError(f"{name} must be greater than 0, not {value}")
    return value


def draw(scheduler: LoadScheduler, seed: int, max_queries: int | None, duration_ns: int | None) -> Arrivals:
    """The whole schedule, drawn before the start so that a sender has nothing to do but wait and send."""
    if not scheduler.ends(max_queries is not None, duration_ns is not None):
        raise UsageError(
            f"{type(scheduler).__name__} never ends by itself: give max_queries or a duration"
            if scheduler.rate is not None
            else f"{type(scheduler).__name__} sends everything at once: give max_queries or a data set with a length"
        )
    blocks: list[Arrivals] = []
    count = 0
    for block in scheduler.arrivals(np.random.default_rng(seed)):
        blocks.append(block)
        count += len(block)
        if max_queries is not None and count >= max_queries:
            break
        if duration_ns is not None and len(block) and block[-1] >= duration_ns:
            break
    drawn = np.concatenate(blocks) if blocks else np.empty(0, np.int64)
    if duration_ns is not None:
        drawn = drawn[: np.searchsorted(drawn, duration_ns)]
    return drawn if max_queries is None else drawn[:max_queries]


def blocks(drawn: Arrivals) -> Iterator[Arrivals]:
    for first in range(0, len(drawn), BLOCK):
        yield drawn[first : first + BLOCK]


_LEAST_NS = 1_000_000_000
"""Length that is assumed for a schedule from which no gap can be told: one query, or all at once."""


def endless(scheduler: LoadScheduler, seed: int) -> Iterator[Arrivals]:
    """An open loop's schedule, in blocks, for as long as it is asked for.

    It begins as the one that `draw` draws. One that ends by itself begins again at its end: after its `seconds`, and
    where they are not known (a trace) a mean gap after its last query.
    """
    rng = np.random.default_rng(seed)
    begin = 0
    while True:
        last, count = 0, 0
        for block in scheduler.arrivals(rng):
            if len(block):
                yield begin + block
                last, count = int(block[-1]), count + len(block)
        if scheduler.seconds is not None:
            begin += int(scheduler.seconds * 1e9)
        else:
            begin += last + last // (count - 1) if last and count > 1 else _LEAST_NS


class PacedLoadScheduler(LoadScheduler):
    """Queries at a rate; at 0, or without one, all are there from the start and the pipeline sets the pace."""

    def __init__(self, rate: float | None) -> None:
        if rate is not None and not rate >= 0:
            raise ValueError(f"rate must be greater than 0, or 0 for as fast as it goes, not {rate}")
        self.rate = rate or None

    @abstractmethod
    def paced(self, rng: np.random.Generator, rate: float) -> Iterator[Arrivals]: ...

    def arrivals(self, rng: np.random.Generator) -> Iterator[Arrivals]:
        if self.rate is not None:
            yield from self.paced(rng, self.rate)
        while True:
            yield np.zeros(BLOCK, np.int64)

    def ends(self, counted: bool, timed: bool) -> bool:
        return counted or (timed and self.rate is not None)


SCHEDULERS: Registry[LoadScheduler] = Registry(
    "load scheduler",
    LoadScheduler,  # type: ignore[type-abstract]
    {
        "concurrent": "assay.loadgen.ConcurrentLoadScheduler",
        "constant": "assay.loadgen.ConstantLoadScheduler",
        "gamma": "assay.loadgen.GammaLoadScheduler",
        "multi_stream": "assay.loadgen.MultiStreamLoadScheduler",
        "offline": "assay.loadgen.OfflineLoadScheduler",
        "poisson": "assay.loadgen.PoissonLoadScheduler",
        "ramp": "assay.loadgen.RampLoadScheduler",
        "single_stream": "assay.loadgen.SingleStreamLoadScheduler",
        "steps": "assay.loadgen.StepsLoadScheduler",
        "trace": "assay.loadgen.TraceLoadScheduler",
    },
)
