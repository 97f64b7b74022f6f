from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from assay.errors import UsageError
from assay.pytest_plugin.fixture import PytestBenchmark
from assay.pytest_plugin.rounds import RoundsWanted


def benchmark(rounds: int | None = 3, **more: Any) -> PytestBenchmark:
    return PytestBenchmark(RoundsWanted(rounds, max_time_s=0.001), **more)


def test_a_call_is_timed_and_answers_what_the_function_does() -> None:
    bench = benchmark()
    assert bench(sum, [1, 2]) == 3
    assert bench.timings is not None
    assert len(bench.metrics["time_s"]["samples"]) == 3
    assert bench.metrics["time_s"]["unit"] == "s"
    assert bench.metrics["time_s"]["better"] == "lower"


@pytest.mark.parametrize("arguments", [((), {}), ((1,), {}), ((1, 2), {}), ((1,), {"b": 2}), ((), {"b": 2})])
def test_every_kind_of_arguments_reaches_it(arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> None:
    args, kwargs = arguments
    given = []
    benchmark()(lambda *a, **k: given.append((a, k)), *args, **kwargs)
    assert given[0] == (args, kwargs)
    assert all(one == given[0] for one in given)


def test_pedantic_calls_as_often_as_it_was_told_and_no_more() -> None:
    calls: list[int] = []
    bench = benchmark()
    assert bench.pedantic(lambda: calls.append(1) or len(calls), rounds=3, iterations=4, warmup_rounds=2) == 20
    assert len(calls) == (3 + 2) * 4
    assert bench.timings is not None
    assert (len(bench.timings.samples), bench.timings.iterations) == (3, 4)


def test_set_up_is_before_every_round_and_not_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("assay.pytest_plugin.rounds.perf_counter", lambda: clock[0])
    monkeypatch.setattr("assay.pytest_plugin.rounds.waited_s", lambda: 0.0)
    events: list[str] = []

    def takes(what: str, seconds: float, answer: Any = None) -> Any:
        events.append(what)
        clock[0] += seconds
        return answer

    bench = benchmark()
    bench.pedantic(
        lambda data, scale: takes(f"call {data} {scale}", 0.25),
        setup=lambda: takes("setup", 10.0, (("fresh",), {"scale": 2})),
        teardown=lambda data, scale: takes(f"teardown {data}", 5.0),
        rounds=2,
    )
    assert events == ["setup", "call fresh 2", "teardown fresh"] * 2
    assert bench.timings is not None
    assert bench.timings.samples == (0.25, 0.25)


def test_a_coroutine_function_is_awaited_in_a_loop() -> None:
    bench = benchmark()

    async def answer(value: int) -> int:
        await asyncio.sleep(0)
        return value

    assert bench(partial(answer, 42)) == 42
    assert len(bench.metrics["time_s"]["samples"]) == 3


def test_in_a_running_loop_it_is_to_be_awaited() -> None:
    bench = benchmark()

    async def answer() -> int:
        return 42

    async def test() -> tuple[bool, int]:
        awaited = bench(answer)
        waited = bench.waits
        return waited, await awaited

    assert asyncio.run(test()) == (True, 42)
    assert not bench.waits
    assert bench.timings is not None


def test_disabled_it_calls_once_and_measures_nothing() -> None:
    calls: list[int] = []
    bench = benchmark(enabled=False)
    assert bench(lambda: calls.append(1) or "done") == "done"
    assert (len(calls), bench.metrics) == (1, {})


def test_twice_in_one_test_is_refused() -> None:
    bench = benchmark()
    bench(len, "")
    with pytest.raises(UsageError, match="used twice in one test"):
        bench(len, "")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rounds": 0}, "rounds is a whole number of at least 1, not 0"),
        ({"iterations": "2"}, "iterations is a whole number of at least 1, not '2'"),
        ({"warmup_rounds": -1}, "warmup_rounds is a whole number of at least 0"),
        ({"setup": list, "iterations": 2}, "with setup, iterations is 1"),
        ({"setup": lambda: 5}, "setup returns (args, kwargs) or nothing, not 5"),
        ({"setup": lambda: ((), {}), "args": ("x",)}, "not from both"),
    ],
)
def test_what_cannot_be_is_one_message(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as raised:
        benchmark().pedantic(len, **given)
    assert said in str(raised.value)
