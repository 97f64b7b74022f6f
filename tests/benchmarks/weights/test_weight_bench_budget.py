from __future__ import annotations

from io import StringIO

from assay.benchmarks.weights.bench_plan import BenchPlan
from assay.benchmarks.weights.budget import Budget
from assay.benchmarks.weights.profile import Profile
from assay.benchmarks.weights.progress import Progress, clock_face
from assay.benchmarks.weights.scenario_config import ScenarioConfig


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def rounds_of(budget: Budget, clock: Clock, each: float, most: int, least: int = 1) -> int:
    done = 0
    for _ in budget.rounds(most, least):
        clock.now += each
        done += 1
    return done


def test_rounds_stop_before_the_one_that_would_not_fit() -> None:
    clock = Clock()
    assert rounds_of(Budget(10, clock), clock, each=3, most=100) == 3


def test_the_first_rounds_are_run_however_little_time_there_is() -> None:
    clock = Clock()
    assert rounds_of(Budget(0, clock), clock, each=3, most=100, least=2) == 2


def test_no_more_rounds_than_asked_for() -> None:
    clock = Clock()
    assert rounds_of(Budget(1000, clock), clock, each=1, most=4) == 4


def test_a_part_is_a_share_of_what_is_left() -> None:
    clock = Clock()
    budget = Budget(10, clock)
    clock.now = 4
    assert budget.part(0.5).seconds == 3


def plan(seconds: float, *work: float) -> BenchPlan:
    profile = Profile(budget_s=seconds, timeout=10_000.0)
    return BenchPlan.of(profile, ScenarioConfig(), [("s", str(i), each) for i, each in enumerate(work)])


def test_too_little_time_shortens_the_longest_first() -> None:
    assert [step.budget_s for step in plan(30, 1, 5, 100, 200).steps] == [1, 5, 12, 12]


def test_time_to_spare_gives_up_to_twice_the_estimate() -> None:
    assert [step.budget_s for step in plan(1000, 1, 5).steps] == [2, 10]
    assert plan(1000, 1, 5).estimate_s == 6


def test_the_plan_says_budget_and_estimate_side_by_side() -> None:
    assert "budget 0:30, estimated on this machine 0:30" in str(plan(30, 1, 5, 100, 200))
    assert "would take 5:06: there will be fewer" in str(plan(30, 1, 5, 100, 200))
    assert "fewer" not in str(plan(30, 1, 5))


def test_time_left_follows_what_the_first_steps_really_took() -> None:
    clock, out = Clock(), StringIO()
    progress = Progress([10, 10, 10, 10], out, clock)
    progress.begin("first")
    assert progress.left_s == 40
    clock.now = 20
    progress.end()
    # One step took twice its time; two imagined ones that went to plan stand against it: 30 * (20 + 20) / (10 + 20).
    assert progress.left_s == 40
    progress.begin("second")
    assert out.getvalue() == "[1/4] first: 0:40 left\n[2/4] second: 0:40 left\n"
    assert clock_face(-3) == "0:00"
