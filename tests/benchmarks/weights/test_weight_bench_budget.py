from __future__ import annotations

import time
from pathlib import Path

import pytest

from assay.benchmarks.weight_probes.machine import Machine, probe_machine
from assay.benchmarks.weight_scenarios.scenario_config import ScenarioBudget, ScenarioConfig
from assay.benchmarks.weights import orchestrator
from assay.benchmarks.weights.bench_plan import BenchPlan, SuiteProgress, clock_face, estimate_of_stores
from assay.benchmarks.weights.compression import CompressionSuite
from assay.benchmarks.weights.profile import Profile
from assay.benchmarks.weights.settings import SuiteSettings


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def rounds_of(budget: ScenarioBudget, clock: Clock, each: float, most: int, least: int = 1) -> int:
    done = 0
    for _ in budget.rounds(most, least):
        clock.now += each
        done += 1
    return done


def test_rounds_stop_before_the_one_that_would_not_fit() -> None:
    clock = Clock()
    assert rounds_of(ScenarioBudget(10, clock), clock, each=3, most=100) == 3


def test_the_first_rounds_are_run_however_little_time_there_is() -> None:
    clock = Clock()
    assert rounds_of(ScenarioBudget(0, clock), clock, each=3, most=100, least=2) == 2


def test_no_more_rounds_than_asked_for() -> None:
    clock = Clock()
    assert rounds_of(ScenarioBudget(1000, clock), clock, each=1, most=4) == 4


def test_a_part_is_a_share_of_what_is_left() -> None:
    clock = Clock()
    budget = ScenarioBudget(10, clock)
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
    assert "budget 0:30, estimated on this machine before any suite has run: at least 0:30" in str(
        plan(30, 1, 5, 100, 200)
    )
    assert "would take 5:06: there will be fewer" in str(plan(30, 1, 5, 100, 200))
    assert "fewer" not in str(plan(30, 1, 5))


def test_time_left_follows_what_the_first_steps_really_took() -> None:
    clock = Clock()
    said: list[str] = []
    progress = SuiteProgress([10, 10, 10, 10], [""] * 4, said.append, clock)
    progress.begin("first")
    assert progress.left_s == 40
    clock.now = 20
    progress.end()
    # One step took twice its time; two imagined ones that went to plan stand against it: 30 * (20 + 20) / (10 + 20).
    assert progress.left_s == 40
    progress.begin("second")
    assert said == ["[1/4] first: at least 0:40 left", "[2/4] second: 0:40 left"]
    assert clock_face(-3) == "0:00"


def test_time_left_is_told_by_what_was_measured_of_each_kind() -> None:
    clock = Clock()
    said: list[str] = []
    progress = SuiteProgress([10, 10, 10, 10], ["quick", "slow", "quick", "slow"], said.append, clock)
    for name, took in (("quick", 10), ("slow", 100), ("quick", 10)):
        progress.begin(name)
        clock.now += took
        progress.end()
    progress.begin("slow")
    # Of its own kind one took 100 of 10; two imagined ones went to plan: 10 * (100 + 20) / (10 + 20).
    assert progress.left_s == 40
    assert [" at least " in line for line in said] == [True, True, False, False]


def test_what_is_done_once_takes_its_time_whatever_the_budget() -> None:
    """Twelve stores once each do not fit into a minute because a minute was asked for."""
    profile = Profile(budget_s=60, timeout=10_000.0)
    steps = [("s", str(at), 100.0) for at in range(6)]
    made = BenchPlan.of(profile, ScenarioConfig(), steps, once=[70.0] * 6)
    assert made.estimate_s == 420
    assert "at least 7:00" in str(made)
    assert "everything once takes about 7:00: more than the budget, which bounds repeats" in str(made)
    assert "fewer" not in str(made)


def test_each_store_is_estimated_at_its_own_speed() -> None:
    def seconds(config: ScenarioConfig) -> float:
        return 5 + len(config.stores) * 100 / config.machine.commit_mb_s

    config = ScenarioConfig(stores=("fast", "slow", "slower"))
    machines = {name: Machine(commit_mb_s=speed) for name, speed in (("fast", 100), ("slow", 10), ("slower", 1))}
    assert estimate_of_stores(seconds, config, machines) == pytest.approx(5 + 1 + 10 + 100)


def test_every_store_is_probed(monkeypatch: pytest.MonkeyPatch) -> None:
    speeds = {"assay-fast": 100.0, "zstd": 10.0}
    monkeypatch.setattr(
        orchestrator, "probe_machine", lambda store, scratch: Machine(commit_mb_s=speeds[store], settle_s=0)
    )
    profile = Profile(suites=["compression"], iterations=1, models=["tiny"])
    both, first = (
        orchestrator.BenchmarkOrchestrator(SuiteSettings(), stores=stores).plan(profile)
        for stores in (tuple(speeds), ("assay-fast",))
    )
    assert "commit 10 to 100 MB/s" in str(both)
    assert both.whole_s > 2 * first.whole_s, "the second store is ten times as slow"


def test_the_probe_counts_what_goes_on_around_a_store(tmp_path: Path) -> None:
    """Most of a chain through a fast store is spent around it: opening it anew, settling the machine, comparing."""
    start = time.perf_counter()
    machine = probe_machine("safetensors", tmp_path)
    took = time.perf_counter() - start
    assert 0 < machine.settle_s < took
    assert machine.chain_s(8, versions=2) == pytest.approx(machine.chain_s(8) + 2 * machine.settle_s)
    compression = CompressionSuite()
    estimates = [compression.estimate("similar", ScenarioConfig(versions=n, machine=machine)) for n in (2, 8)]
    assert estimates[1] - estimates[0] >= 6 * machine.settle_s
