from __future__ import annotations

import asyncio

import pytest

from assay.pytest_plugin import rounds
from assay.pytest_plugin.rounds import RoundsWanted, RoundTimings, carry_out, carry_out_async, round_steps


class Machine:
    """A function that takes so long, on a clock of its own; `asked` are the rounds that a plan asked for."""

    def __init__(self, seconds: float, first: float = 0.0) -> None:
        self.seconds, self.first = seconds, first
        self.asked: list[int] = []

    def round(self, calls: int) -> float:
        extra = self.first if not self.asked else 0.0
        self.asked.append(calls)
        return self.seconds * calls + extra

    async def round_async(self, calls: int) -> float:
        await asyncio.sleep(0)
        return self.round(calls)


@pytest.fixture(autouse=True)
def fine_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "clock_step_s", lambda: 1e-8)


def test_a_quick_function_is_called_until_a_round_is_long_enough() -> None:
    machine = Machine(1e-7)
    timings = carry_out(round_steps(RoundsWanted()), machine.round)
    assert machine.asked[0] == 1
    assert timings.iterations * 1e-7 >= rounds.SHORTEST_S
    assert timings.iterations <= 2 * rounds.SHORTEST_S / 1e-7
    assert len(timings.samples) == rounds.MOST
    assert timings.samples == pytest.approx([1e-7] * rounds.MOST)


def test_a_slow_first_call_does_not_leave_rounds_too_short() -> None:
    """The first call fills caches: what it takes says nothing of the others."""
    timings = carry_out(round_steps(RoundsWanted()), Machine(1e-7, first=0.9e-3).round)
    assert timings.iterations * 1e-7 >= rounds.SHORTEST_S


def test_a_coarse_clock_needs_longer_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "clock_step_s", lambda: 1e-4)
    timings = carry_out(round_steps(RoundsWanted()), Machine(1e-5).round)
    assert timings.iterations * 1e-5 >= 1e-4 * rounds.TICKS


def test_a_slow_function_has_few_rounds_of_one_call() -> None:
    timings = carry_out(round_steps(RoundsWanted(max_time_s=1.0)), Machine(2.0).round)
    assert timings == RoundTimings((2.0,) * rounds.FEWEST, 1)


def test_rounds_end_with_the_time_for_them() -> None:
    timings = carry_out(round_steps(RoundsWanted(max_time_s=1.0)), Machine(0.1).round)
    assert len(timings.samples) in (10, 11)


def test_so_many_rounds_as_somebody_asked_for_however_long_they_take() -> None:
    assert len(carry_out(round_steps(RoundsWanted(rounds=3, max_time_s=0.1)), Machine(7.0).round).samples) == 3
    assert len(carry_out(round_steps(RoundsWanted(rounds=500)), Machine(1e-7).round).samples) == 500


def test_given_iterations_are_not_looked_for() -> None:
    machine = Machine(1e-7)
    assert carry_out(round_steps(RoundsWanted(rounds=2), iterations=4), machine.round).iterations == 4
    assert machine.asked == [4, 4]


def test_coroutines_follow_the_same_plan() -> None:
    plain, awaited = Machine(1e-5), Machine(1e-5)
    one = carry_out(round_steps(RoundsWanted(rounds=4)), plain.round)
    other = asyncio.run(carry_out_async(round_steps(RoundsWanted(rounds=4)), awaited.round_async))
    assert (one, plain.asked) == (other, awaited.asked)


def test_the_clock_has_a_step() -> None:
    rounds_step = rounds.clock_step_s
    assert 0 < rounds_step() < 1
