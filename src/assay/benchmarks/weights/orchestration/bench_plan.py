from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay.benchmarks.weights.orchestration.profile import Profile
from assay.benchmarks.weights.orchestration.progress import clock_face
from assay.benchmarks.weights.probes.machine import Machine
from assay.benchmarks.weights.scenarios.scenario_config import ScenarioConfig


@dataclass(frozen=True)
class PlannedScenario:
    suite: str
    scenario: str
    estimate_s: float
    """Seconds expected: its whole work, or its share of the budget if that is less; never less than once."""
    budget_s: float


@dataclass(frozen=True)
class BenchPlan:
    """Every scenario with its share of the profile's time, worked out for this machine."""

    profile: Profile
    config: ScenarioConfig
    steps: tuple[PlannedScenario, ...]
    whole_s: float
    """Seconds that everything would take without a budget."""
    once_s: float
    """Seconds for every scenario and store measured a single time, which no budget makes shorter."""
    machines: Mapping[str, Machine] = field(default_factory=dict)
    """Store by store, with the speeds measured of it."""

    @classmethod
    def of(
        cls,
        profile: Profile,
        config: ScenarioConfig,
        estimates: Sequence[tuple[str, str, float]],
        once: Sequence[float] = (),
        machines: Mapping[str, Machine] | None = None,
    ) -> BenchPlan:
        """A scenario may take up to twice its estimate when there is time to spare. Too little of it shortens the
        longest scenarios first, down to the same length each, and none is left out.

        `once`: what each scenario takes if nothing is repeated.
        """
        work = [seconds for _, _, seconds in estimates]
        least = [min(whole, alone) for whole, alone in zip(work, once or [0.0] * len(work), strict=True)]
        cap = _common_cap(work, profile.seconds)
        slack = min(2.0, max(1.0, profile.seconds / max(sum(work), 1e-9)))
        steps = tuple(
            PlannedScenario(suite, scenario, max(alone, min(seconds, cap)), min(seconds, cap) * slack)
            for (suite, scenario, seconds), alone in zip(estimates, least, strict=True)
        )
        return cls(profile, config, steps, sum(work), sum(least), machines or {"": config.machine})

    @property
    def estimate_s(self) -> float:
        return sum(step.estimate_s for step in self.steps)

    def of_suite(self, suite: str) -> Iterator[PlannedScenario]:
        return (step for step in self.steps if step.suite == suite)

    def __str__(self) -> str:
        machine = self.config.machine
        speeds = [(each.commit_mb_s, each.checkout_mb_s) for each in self.machines.values()]
        commit, checkout = (_range([pair[at] for pair in speeds]) for at in (0, 1))
        line = (
            f"profile {self.profile.name}: budget {clock_face(self.profile.seconds)}, estimated on this machine before "
            f"any suite has run: at least {clock_face(self.estimate_s)} ({machine.cores} cores, "
            f"{machine.available_mb / 1000:.1f} GB free, commit {commit} MB/s, checkout {checkout} MB/s)"
        )
        if self.once_s > self.profile.seconds:
            line += (
                f"\neverything once takes about {clock_face(self.once_s)}: more than the budget, which bounds repeats"
            )
        elif self.whole_s > self.profile.seconds:
            line += f"\nall repetitions would take {clock_face(self.whole_s)}: there will be fewer, to fit"
        return line


def estimate_of_stores(
    estimate: Callable[[ScenarioConfig], float], config: ScenarioConfig, machines: Mapping[str, Machine]
) -> float:
    """Seconds of a scenario with all its stores, each at the speed that was measured of it.

    A suite estimates for stores of one speed. What a second one of a store adds is that store's own part; the rest
    (making data, finding the limit) is done once, however many stores there are.
    """

    def seconds(store: str, times: int) -> float:
        return estimate(replace(config, stores=(store,) * times, machine=machines[store]))

    own = {store: seconds(store, 2) - seconds(store, 1) for store in config.stores}
    first = config.stores[0]
    return max(0.0, seconds(first, 1) - own[first]) + sum(own.values())


def _range(speeds: Sequence[float]) -> str:
    slowest, fastest = f"{min(speeds):,.0f}", f"{max(speeds):,.0f}"
    return slowest if slowest == fastest else f"{slowest} to {fastest}"


def _common_cap(work: Sequence[float], total: float) -> float:
    """The longest any part may be so that all fit: max-min fair sharing."""
    left = total
    for number, seconds in enumerate(sorted(work)):
        share = left / (len(work) - number)
        if seconds > share:
            return share
        left -= seconds
    return float("inf")
