"""How often a function is called: until a round is long against the clock, then many short rounds within a time budget.

A busy machine interrupts a process every few milliseconds. The kernel counts how long a thread waited for a processor;
that time is taken out of each round. Rounds are short, so that most of them see no interruption at all, and the level
is that of the quickest tenth, since what is left of an interruption (cold caches) only ever adds time.

The steps are a generator that asks for the seconds of a round of so many calls. It neither calls nor waits itself, so
that plain and asynchronous functions follow the same one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import repeat
from math import ceil
from threading import get_native_id
from time import perf_counter
from typing import Any, NamedTuple

from assay.errors import UsageError

SHORTEST_S = 1e-3
"""Seconds of a round at least: a shorter one is partly clock, and a timer interrupt in it counts double."""
TICKS = 1000
"""Steps of the clock that a round takes at least, so that reading it is off by a thousandth."""
FEWEST, MOST = 5, 1000
"""Rounds, where nobody asked for a number."""
WARM_UP = 0.05
"""Share of the time budget that passes before the first round counts: caches fill and code is specialised."""
HICCUP_S = 0.1
"""Seconds that no interruption takes: a shorter round may be long only because the process was interrupted."""
KEPT = 250
"""Samples that a record keeps of one test."""
QUICK = 0.1
"""Share of the rounds that are quicker than the level."""


class Took(NamedTuple):
    """What a round took."""

    seconds: float
    """Without the time that the thread waited for a processor."""
    wall_s: float
    """With it: what the time budget is spent in."""


Steps = Generator[int, Took, "RoundTimings"]


@dataclass(frozen=True)
class RoundsWanted:
    rounds: int | None = None
    """So many, however long they take. None: as many as `max_time_s` holds, from 5 to 1000."""
    max_time_s: float = 1.0
    least: int = FEWEST
    """Rounds that there are at least, however long they take."""


@dataclass(frozen=True)
class RoundTimings:
    samples: tuple[float, ...]
    """Seconds a call, one value a round, in the order they were taken."""
    iterations: int
    """Calls of a round."""


def level(samples: Sequence[float]) -> float:
    """Return what a call takes when nothing disturbs it: the 10% quantile of the rounds.

    Interruptions only ever add time. The least round would do as well in theory; it is the one that luck made.
    """
    ordered = sorted(samples)
    below, part = divmod((len(ordered) - 1) * QUICK, 1)
    low, high = ordered[int(below)], ordered[min(int(below) + 1, len(ordered) - 1)]
    return low + (high - low) * part


def thinned(samples: Sequence[float]) -> tuple[float, ...]:
    """At most `KEPT` of the samples, evenly spaced in time."""
    step = max(1, ceil(len(samples) / KEPT))
    return tuple(samples[::step])


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
        spent = 0.0
        while True:
            took, wall = yield calls
            if target <= took < HICCUP_S:
                again, more = yield calls
                took, wall = min(took, again), wall + more
            spent += wall
            if took >= target:
                break
            # Never more than tenfold: the first call is often slow, and what it says of the others wrong.
            calls = max(2 * calls, min(10 * calls, ceil(calls * target / max(took, 1e-9))))
        while spent < WARM_UP * wanted.max_time_s:
            spent += (yield calls).wall_s
    samples: list[float] = []
    spent = 0.0
    while _go_on(len(samples), spent, wanted):
        took, wall = yield calls
        samples.append(took)
        spent += wall
    return RoundTimings(tuple(sample / calls for sample in samples), calls)


def _go_on(rounds: int, spent: float, wanted: RoundsWanted) -> bool:
    if wanted.rounds is not None:
        return rounds < wanted.rounds
    return rounds < wanted.least or (rounds < MOST and spent < wanted.max_time_s)


def carry_out(steps: Steps, run_round: Callable[[int], Took]) -> RoundTimings:
    calls = next(steps)
    while True:
        try:
            calls = steps.send(run_round(calls))
        except StopIteration as done:
            timings: RoundTimings = done.value
            return timings


async def carry_out_async(steps: Steps, run_round: Callable[[int], Awaitable[Took]]) -> RoundTimings:
    calls = next(steps)
    while True:
        try:
            calls = steps.send(await run_round(calls))
        except StopIteration as done:
            timings: RoundTimings = done.value
            return timings


# A round: a function called so many times between two readings of the clock.
#
# Between the readings there are only the loop and the calls. Arguments that are not there are not passed, since an
# empty `**kwargs` alone takes longer than a quick function, and no result is kept while the next one is made.

Arguments = tuple[tuple[Any, ...], Mapping[str, Any]]


@dataclass
class TimedCall:
    """A function with its arguments. `setup` runs before every round and `teardown` after it, both untimed."""

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    setup: Callable[[], Any] | None = None
    teardown: Callable[..., Any] | None = None
    result: Any = None
    """What the last call returned."""

    def round(self, calls: int) -> Took:
        args, kwargs = self._begin()
        waited = waited_s()
        took, self.result = _time_calls(self.function, args, kwargs, calls)
        waited = waited_s() - waited
        self._end(args, kwargs)
        return _took(took, waited)

    async def round_async(self, calls: int) -> Took:
        args, kwargs = self._begin()
        waited = waited_s()
        took, self.result = await _time_calls_async(self.function, args, kwargs, calls)
        waited = waited_s() - waited
        self._end(args, kwargs)
        return _took(took, waited)

    def _begin(self) -> Arguments:
        """What `setup` returns, where it returns any: a pair of positional and named arguments."""
        self.result = None
        made = self.setup() if self.setup is not None else None
        if made is None:
            return self.args, self.kwargs
        if self.args or self.kwargs:
            raise UsageError("pedantic: the arguments come from `args` and `kwargs`, or from `setup`, not from both")
        try:
            args, kwargs = made
            return tuple(args), dict(kwargs)
        except (TypeError, ValueError):
            raise UsageError(f"pedantic: setup returns (args, kwargs) or nothing, not {made!r:.80}") from None

    def _end(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        if self.teardown is not None:
            self.teardown(*args, **kwargs)


def waited_s() -> float:
    """Return how long this thread has been ready to run while other processes had the processor; 0 if the kernel
    doesn't count it. Reading it takes 1.3 µs."""
    file = _schedstat(os.getpid(), get_native_id())
    return 0.0 if file is None else int(os.pread(file, 100, 0).split()[1]) * 1e-9


@cache
def _schedstat(process: int, thread: int) -> int | None:
    """Open for as long as the process lives; a child of `fork` opens its own."""
    try:
        return os.open(f"/proc/{process}/task/{thread}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def _took(wall_s: float, waited: float) -> Took:
    """A wait longer than the round was before or after it."""
    return Took(wall_s - waited if waited < wall_s else wall_s, wall_s)


def _time_calls(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], calls: int
) -> tuple[float, Any]:
    but_last = repeat(None, calls - 1)
    if kwargs:
        begun = perf_counter()
        for _ in but_last:
            function(*args, **kwargs)
        result = function(*args, **kwargs)
        return perf_counter() - begun, result
    if len(args) > 1:
        begun = perf_counter()
        for _ in but_last:
            function(*args)
        result = function(*args)
        return perf_counter() - begun, result
    if args:
        [only] = args
        begun = perf_counter()
        for _ in but_last:
            function(only)
        result = function(only)
        return perf_counter() - begun, result
    begun = perf_counter()
    for _ in but_last:
        function()
    result = function()
    return perf_counter() - begun, result


async def _time_calls_async(
    function: Callable[..., Awaitable[Any]], args: tuple[Any, ...], kwargs: Mapping[str, Any], calls: int
) -> tuple[float, Any]:
    begun = perf_counter()
    for _ in repeat(None, calls - 1):
        await function(*args, **kwargs)
    result = await function(*args, **kwargs)
    return perf_counter() - begun, result
