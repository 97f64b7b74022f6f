"""How often a function is called: until a round is long against the clock, then rounds until there are enough.

The steps are a generator that asks for the seconds of a round of so many calls. It neither calls nor waits itself, so
that plain and asynchronous functions follow the same one.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from functools import cache
from math import ceil

SHORTEST_S = 1e-3
"""Seconds of a round at least: a shorter one is partly clock, and a timer interrupt in it counts double."""
TICKS = 1000
"""Steps of the clock that a round takes at least, so that reading it is off by a thousandth."""
FEWEST, MOST = 5, 100
"""Rounds, where nobody asked for a number."""

Steps = Generator[int, float, "RoundTimings"]


@dataclass(frozen=True)
class RoundsWanted:
    rounds: int | None = None
    """So many, however long they take. None: as many as `max_time_s` holds, from 5 to 100."""
    max_time_s: float = 1.0


@dataclass(frozen=True)
class RoundTimings:
    samples: tuple[float, ...]
    """Seconds a call, one value a round, in the order they were taken."""
    iterations: int
    """Calls of a round."""


@cache
def clock_step_s() -> float:
    """The smallest step that the clock was seen to take."""
    steps = []
    for _ in range(20):
        start = end = time.perf_counter()
        while end == start:
            end = time.perf_counter()
        steps.append(end - start)
    return min(steps)


def round_steps(wanted: RoundsWanted, iterations: int | None = None) -> Steps:
    """`iterations`: calls of a round; None finds as many as make a round long enough."""
    calls = iterations or 1
    if iterations is None:
        target = max(SHORTEST_S, TICKS * clock_step_s())
        while (took := (yield calls)) < target:
            # Never more than tenfold: the first call is often slow, and what it says of the others wrong.
            calls = max(2 * calls, min(10 * calls, ceil(calls * target / max(took, 1e-9))))
    samples: list[float] = []
    while _go_on(samples, wanted):
        samples.append((yield calls))
    return RoundTimings(tuple(sample / calls for sample in samples), calls)


def _go_on(samples: list[float], wanted: RoundsWanted) -> bool:
    if wanted.rounds is not None:
        return len(samples) < wanted.rounds
    return len(samples) < FEWEST or (len(samples) < MOST and sum(samples) < wanted.max_time_s)


def carry_out(steps: Steps, run_round: Callable[[int], float]) -> RoundTimings:
    calls = next(steps)
    while True:
        try:
            calls = steps.send(run_round(calls))
        except StopIteration as done:
            timings: RoundTimings = done.value
            return timings


async def carry_out_async(steps: Steps, run_round: Callable[[int], Awaitable[float]]) -> RoundTimings:
    calls = next(steps)
    while True:
        try:
            calls = steps.send(await run_round(calls))
        except StopIteration as done:
            timings: RoundTimings = done.value
            return timings
