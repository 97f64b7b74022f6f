"""How often a function is called: until a round is long against the clock, then many short rounds within a time budget.

Rounds are short on purpose. On a busy machine a process is interrupted every few milliseconds: a long round holds such
an interruption nearly always, a short one seldom, so that the quickest tenth of many short rounds is undisturbed. Six
functions in 24 processes beside ten busy ones on two cores: that level differed from process to process by 0.9 to 3.7%
with rounds of 1 ms and by 20 to 45% with rounds of 20 ms; the median of 1 ms rounds by 3 to 34%.

The steps are a generator that asks for the seconds of a round of so many calls. It neither calls nor waits itself, so
that plain and asynchronous functions follow the same one.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import repeat
from math import ceil
from time import perf_counter, process_time
from typing import Any

from assay.errors import UsageError

SHORTEST_S = 1e-3
"""Seconds of a round at least: a shorter one is partly clock, and a timer interrupt in it counts double."""
TICKS = 1000
"""Steps of the clock that a round takes at least, so that reading it is off by a thousandth."""
FEWEST, MOST = 5, 1000
"""Rounds, where nobody asked for a number."""
WARM_UP = 0.05
"""Share of the time budget that passes before the first round counts: caches fill and code is specialised."""
SHORTEST_CPU_S = 1e-4
"""Seconds of a round whose CPU time is worth reading."""
HICCUP_S = 0.1
"""Seconds that no interruption takes: a shorter round may be long only because the process was interrupted."""
KEPT = 250
"""Samples that a record keeps of one test."""
QUICK = 0.1
"""Share of the rounds that are quicker than the level."""

Steps = Generator[int, float, "RoundTimings"]


@dataclass(frozen=True)
class RoundsWanted:
    rounds: int | None = None
    """So many, however long they take. None: as many as `max_time_s` holds, from 5 to 1000."""
    max_time_s: float = 1.0


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
            spent += (took := (yield calls))
            if target <= took < HICCUP_S:
                spent += (again := (yield calls))
                took = min(took, again)
            if took >= target:
                break
            # Never more than tenfold: the first call is often slow, and what it says of the others wrong.
            calls = max(2 * calls, min(10 * calls, ceil(calls * target / max(took, 1e-9))))
        while spent < WARM_UP * wanted.max_time_s:
            spent += yield calls
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
    cpu_s: list[float] = field(default_factory=list)
    """CPU time of the process in each round, warm-up included."""

    def round(self, calls: int) -> float:
        """Seconds of so many calls."""
        args, kwargs = self._begin()
        used = process_time()
        took, self.result = _time_calls(self.function, args, kwargs, calls)
        self.cpu_s.append(process_time() - used)
        self._end(args, kwargs)
        return took

    async def round_async(self, calls: int) -> float:
        args, kwargs = self._begin()
        used = process_time()
        took, self.result = await _time_calls_async(self.function, args, kwargs, calls)
        self.cpu_s.append(process_time() - used)
        self._end(args, kwargs)
        return took

    def cpu_of(self, timings: RoundTimings) -> tuple[float, ...]:
        """CPU time a call of the rounds that count. Reading that clock takes a microsecond, so that it says nothing of
        shorter rounds."""
        if level(timings.samples) * timings.iterations < SHORTEST_CPU_S:
            return ()
        return tuple(used / timings.iterations for used in self.cpu_s[-len(timings.samples) :])

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
