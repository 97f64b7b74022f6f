from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.errors import UsageError
from assay.pytest_plugin.rounds import (
    RoundsWanted,
    RoundTimings,
    TimedCall,
    carry_out,
    carry_out_async,
    level,
    round_steps,
    thinned,
)

if TYPE_CHECKING:
    from assay.record.metric import Better


class PytestBenchmark:
    """What a test holds. Called, it times a function; results of its own go in by `metric`."""

    def __init__(self, wanted: RoundsWanted, enabled: bool = True, group: str | None = None) -> None:
        self._wanted = wanted
        self.enabled = enabled
        """False: functions are called once, and nothing is measured."""
        self.group = group
        self.metrics: dict[str, Any] = {}
        self.timings: RoundTimings | None = None
        self._state = "new"

    def __call__(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Calls it until a round of calls is long enough, then times rounds. Returns what the last call did.

        A coroutine function is awaited in an event loop of its own. Where a loop runs already (the test is `async`),
        what comes back is to be awaited.
        """
        return self._measure(TimedCall(function, args, kwargs), self._wanted)

    def pedantic(
        self,
        target: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        setup: Callable[[], Any] | None = None,
        teardown: Callable[..., Any] | None = None,
        rounds: int | None = None,
        warmup_rounds: int = 0,
        iterations: int = 1,
    ) -> Any:
        """Calls it exactly as asked: no calibration, and no call that is not asked for. Returns what the last call did.

        `setup` runs before each round, untimed, and may return `(args, kwargs)`; `teardown` after it with the same.
        Without `rounds`: as many as elsewhere.
        """
        _whole("rounds", rounds, 1)
        _whole("iterations", iterations, 1)
        _whole("warmup_rounds", warmup_rounds, 0)
        if setup is not None and iterations > 1:
            raise UsageError("pedantic: with setup, iterations is 1: it runs before a round, not before each call")
        wanted = self._wanted if rounds is None else replace(self._wanted, rounds=rounds)
        call = TimedCall(target, tuple(args), dict(kwargs or {}), setup, teardown)
        return self._measure(call, wanted, iterations, warmup_rounds)

    def metric(
        self,
        name: str,
        value: Any,
        *,
        unit: str | None = None,
        better: Better | None = None,
        samples: Any = (),
        exact: bool = False,
    ) -> None:
        from assay.record import Metric

        self.metrics[name] = Metric(name, value, unit, better, tuple(samples), exact).to_json()

    @property
    def waits(self) -> bool:
        """Whether it was asked to time a coroutine function inside a running loop and never awaited."""
        return self._state == "waiting"

    def _measure(self, call: TimedCall, wanted: RoundsWanted, iterations: int | None = None, warmups: int = 0) -> Any:
        if self._state != "new":
            raise UsageError("assay_benchmark was used twice in one test: write two tests, or parametrize this one")
        if not _is_coroutine_function(call.function):
            self._state = "used"
            if not self.enabled:
                call.round(1)
                return call.result
            for _ in range(warmups):
                call.round(iterations or 1)
            self._keep(carry_out(round_steps(wanted, iterations), call.round), call)
            return call.result
        self._state = "waiting"
        awaited = self._measure_async(call, wanted, iterations, warmups)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(awaited)
        return awaited

    async def _measure_async(self, call: TimedCall, wanted: RoundsWanted, iterations: int | None, warmups: int) -> Any:
        self._state = "used"
        if not self.enabled:
            await call.round_async(1)
            return call.result
        for _ in range(warmups):
            await call.round_async(iterations or 1)
        self._keep(await carry_out_async(round_steps(wanted, iterations), call.round_async), call)
        return call.result

    def _keep(self, timings: RoundTimings, call: TimedCall) -> None:
        self.timings = timings
        self.metric("time_s", level(timings.samples), unit="s", better="lower", samples=thinned(timings.samples))
        if cpu := call.cpu_of(timings):
            self.metric("cpu_s", level(cpu), unit="s", better="lower")


def _is_coroutine_function(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def _whole(name: str, value: int | None, least: int) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
        raise UsageError(f"pedantic: {name} is a whole number of at least {least}, not {value!r}")
