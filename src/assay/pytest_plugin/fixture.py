from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
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
            self._keep(carry_out(round_steps(wanted, iterations), call.round))
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
        self._keep(await carry_out_async(round_steps(wanted, iterations), call.round_async))
        return call.result

    def _keep(self, timings: RoundTimings) -> None:
        self.timings = timings
        self.metric("time_s", level(timings.samples), unit="s", better="lower", samples=thinned(timings.samples))


class AsPytestBenchmark(PytestBenchmark):
    """What tests that were written for pytest-benchmark expect of its fixture."""

    name = ""
    fullname = ""

    def __init__(self, wanted: RoundsWanted, enabled: bool = True, group: str | None = None) -> None:
        super().__init__(wanted, enabled, group)
        self.extra_info: dict[str, Any] = {}
        """Numbers and text in it are stored as metrics."""

    @property
    def disabled(self) -> bool:
        return not self.enabled

    def pedantic(
        self,
        target: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        setup: Callable[[], Any] | None = None,
        teardown: Callable[..., Any] | None = None,
        rounds: int | None = 1,
        warmup_rounds: int = 0,
        iterations: int = 1,
    ) -> Any:
        """One round, unless more are asked for: a target may not bear a second call."""
        return super().pedantic(target, args, kwargs, setup, teardown, rounds, warmup_rounds, iterations)


def extra_metrics(info: Mapping[str, Any]) -> dict[str, Any]:
    """What a test put into `extra_info`: numbers and text, by name."""
    return {str(name): {"value": value} for name, value in info.items() if isinstance(value, int | float | str)}


def _is_coroutine_function(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def _whole(name: str, value: int | None, least: int) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
        raise UsageError(f"pedantic: {name} is a whole number of at least {least}, not {value!r}")


@dataclass(frozen=True)
class MeasuredTest:
    """What one test measured, in plain values: with pytest-xdist it travels from a worker to who keeps it."""

    name: str
    """The test's id."""
    started: float
    """Unix seconds."""
    seconds: float
    """All of the test that the fixture was there for."""
    script: str
    """Digest of the test's source."""
    group: str | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    samples: tuple[float, ...] = ()
    """Seconds a call, one value a round."""
    iterations: int = 0
    failed: str = ""
    """Why the test failed; empty where it did not."""

    @classmethod
    def of(cls, item: Any, benchmark: PytestBenchmark, started: float, seconds: float) -> MeasuredTest:
        from assay.record.environment import digest

        timings = benchmark.timings
        return cls(
            str(item.nodeid),
            started,
            seconds,
            digest(_source(item)),
            benchmark.group,
            _params(item),
            {**extra_metrics(getattr(benchmark, "extra_info", {})), **benchmark.metrics},
            timings.samples if timings else (),
            timings.iterations if timings else 0,
        )

    @classmethod
    def of_pytest_benchmark(cls, item: Any, started: float, seconds: float) -> MeasuredTest | None:
        """What pytest-benchmark measured in this test; None if it did not. Its own table shows the rounds."""
        from assay.record import Metric
        from assay.record.environment import digest

        fixture = (getattr(item, "funcargs", None) or {}).get("benchmark")
        if fixture is None or isinstance(fixture, PytestBenchmark) or not getattr(fixture, "stats", None):
            return None
        samples = [round_s / fixture.stats.iterations for round_s in fixture.stats.stats.data]
        if not samples:
            return None
        time_s = Metric("time_s", level(samples), "s", "lower", thinned(samples))
        metrics = {**extra_metrics(fixture.extra_info), "time_s": time_s.to_json()}
        return cls(str(item.nodeid), started, seconds, digest(_source(item)), fixture.group, _params(item), metrics)

    def to_plain(self) -> dict[str, Any]:
        return {**asdict(self), "samples": list(self.samples)}

    @classmethod
    def from_plain(cls, written: Mapping[str, Any]) -> MeasuredTest:
        return cls(**{**written, "samples": tuple(written["samples"])})


def _params(item: Any) -> dict[str, str]:
    return {key: _plain(value) for key, value in getattr(getattr(item, "callspec", None), "params", {}).items()}


def _plain(value: Any) -> str:
    """A parameter as text, without an object's address: it differs from run to run, and no two would have the same
    parameters."""
    written = repr(value)
    return f"<{type(value).__qualname__}>" if " at 0x" in written else written


def _source(item: Any) -> str:
    try:
        return inspect.getsource(item.function)
    except (OSError, TypeError, AttributeError):
        return str(item.nodeid)
