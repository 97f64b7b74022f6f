from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pytest

from assay.pytest_plugin import rounds
from assay.pytest_plugin.rounds import (
    RoundsWanted,
    RoundTimings,
    TimedCall,
    Took,
    carry_out,
    carry_out_async,
    level,
    round_steps,
    thinned,
)


class Machine:
    """A function that takes so long, on a clock of its own; `asked` are the rounds that a plan asked for."""

    def __init__(self, seconds: float, first: float = 0.0) -> None:
        self.seconds, self.first = seconds, first
        self.asked: list[int] = []

    def round(self, calls: int) -> Took:
        extra = self.first if not self.asked else 0.0
        self.asked.append(calls)
        took = self.seconds * calls + extra
        return Took(took, took)

    async def round_async(self, calls: int) -> Took:
        await asyncio.sleep(0)
        return self.round(calls)


@pytest.fixture(autouse=True)
def fine_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "clock_step_s", lambda: 1e-8)


def test_a_quick_function_is_called_until_a_round_is_long_enough() -> None:
    machine = Machine(1e-7)
    timings = carry_out(round_steps(RoundsWanted(max_time_s=10.0)), machine.round)
    assert machine.asked[0] == 1
    assert timings.iterations * 1e-7 >= rounds.SHORTEST_S
    assert timings.iterations <= 2 * rounds.SHORTEST_S / 1e-7
    assert len(timings.samples) == rounds.MOST
    assert timings.samples == pytest.approx([1e-7] * rounds.MOST)


def test_a_slow_first_call_does_not_leave_rounds_too_short() -> None:
    """The first call fills caches: what it takes says nothing of the others."""
    timings = carry_out(round_steps(RoundsWanted()), Machine(1e-7, first=0.9e-3).round)
    assert timings.iterations * 1e-7 >= rounds.SHORTEST_S


def test_an_interruption_does_not_leave_rounds_too_short() -> None:
    """One call that was interrupted for 8 ms looks like a round that is long enough."""
    timings = carry_out(round_steps(RoundsWanted()), Machine(1e-7, first=8e-3).round)
    assert timings.iterations * 1e-7 >= rounds.SHORTEST_S


def test_rounds_before_the_warm_up_is_over_do_not_count() -> None:
    machine = Machine(1e-3)
    timings = carry_out(round_steps(RoundsWanted(max_time_s=1.0)), machine.round)
    assert (len(machine.asked) - len(timings.samples)) * 1e-3 == pytest.approx(rounds.WARM_UP, rel=0.1)


def test_the_budget_is_spent_in_time_that_passes() -> None:
    """Each round of 1 ms waits 9 ms for a processor."""
    timings = carry_out(round_steps(RoundsWanted(max_time_s=1.0)), lambda calls: Took(1e-3 * calls, 1e-2 * calls))
    assert 95 <= len(timings.samples) <= 105
    assert level(timings.samples) == pytest.approx(1e-3)


@pytest.mark.parametrize(
    ("samples", "expected"), [([3.0], 3.0), ([2.0, 1.0], 1.1), ([5.0, 4.0, 3.0, 2.0, 1.0], 1.4), (range(101), 10.0)]
)
def test_the_level_is_the_quick_tenth(samples: list[float], expected: float) -> None:
    assert level(samples) == pytest.approx(expected)


def test_rounds_that_were_interrupted_leave_the_level_alone() -> None:
    quiet = [1.0 + step / 1000 for step in range(100)]
    busy = [value * (5 if at % 3 else 1) for at, value in enumerate(quiet)]
    assert level(busy) == pytest.approx(level(quiet), rel=0.03)


def test_a_record_keeps_samples_from_first_to_last() -> None:
    kept = thinned([float(at) for at in range(1000)])
    assert len(kept) == rounds.KEPT
    assert (kept[0], kept[-1]) == (0.0, 996.0)
    assert thinned([1.0, 2.0]) == (1.0, 2.0)


BUSY = "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nprint(flush=True)\nwhile True: pass"


@pytest.mark.slow
def test_a_busy_neighbour_does_not_make_a_function_slower() -> None:
    """A call of 20 ms shares its processor with a process that never rests: it takes twice as long by the clock."""

    def work() -> int:
        return sum(range(1_000_000))

    def measured() -> tuple[float, float]:
        call = TimedCall(work)
        took = [call.round(1) for _ in range(15)]
        return level([one.seconds for one in took]), sum(one.wall_s for one in took) / len(took)

    allowed = os.sched_getaffinity(0)
    cpu = min(allowed)
    try:
        os.sched_setaffinity(0, {cpu})
        alone, _ = measured()
        neighbours = [
            subprocess.Popen([sys.executable, "-c", BUSY, str(cpu)], stdout=subprocess.PIPE) for _ in range(2)
        ]
        try:
            for neighbour in neighbours:
                assert neighbour.stdout is not None
                neighbour.stdout.readline()
            beside, wall = measured()
        finally:
            for neighbour in neighbours:
                neighbour.kill()
                neighbour.communicate()
    finally:
        os.sched_setaffinity(0, allowed)
    assert wall > 1.5 * alone
    assert beside < 1.3 * alone


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
