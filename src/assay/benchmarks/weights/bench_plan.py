from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay.benchmarks.weight_probes.machine import Machine
from assay.benchmarks.weight_scenarios.scenario_config import ScenarioConfig
from assay.benchmarks.weights.profile import Profile

Show = Callable[[str], None]
"""Shows a person one line; an empty one takes away what does not stay, before something else is printed."""


def print_line(text: str) -> None:
    """A line a scenario, so that a log stays readable."""
    if text:
        print(text, file=sys.stderr, flush=True)


class SuiteProgress:
    """Which scenario is running and how long the rest will take.

    Estimates of a kind (a suite) are corrected by how those of its kind have turned out so far; until each kind that
    is left has been seen, it is said to take at least so long. `assay weights bench` shows it on a terminal by
    `assay.api.console`.
    """

    def __init__(
        self,
        estimates: list[float],
        kinds: list[str],
        show: Show,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._estimates = estimates
        self._kinds = kinds
        self._show = show
        self._clock = clock
        self._begun = clock()
        self._took: list[float] = []

    @property
    def left_s(self) -> float:
        rest = zip(self._kinds[self._done :], self._estimates[self._done :], strict=True)
        return sum(estimate * self._factor(kind) for kind, estimate in rest)

    @property
    def certain(self) -> bool:
        """Something of every kind that is left has been run."""
        return set(self._kinds[self._done :]) <= self._seen

    @property
    def _done(self) -> int:
        return len(self._took)

    @property
    def _seen(self) -> set[str]:
        return set(self._kinds[: self._done])

    def _factor(self, kind: str) -> float:
        """How much longer than estimated those of the kind that have ended took; of another kind it says nothing."""
        ended = [at for at in range(self._done) if kind == self._kinds[at]]
        if not ended:
            return 1.0
        # One slow scenario says little: the plan counts as two more that went as expected.
        prior = 2 * sum(self._estimates) / max(1, len(self._estimates))
        return (sum(self._took[at] for at in ended) + prior) / (sum(self._estimates[at] for at in ended) + prior)

    def begin(self, name: str) -> None:
        self._begun = self._clock()
        least = "" if self.certain else "at least "
        self._show(f"[{self._done + 1}/{len(self._estimates)}] {name}: {least}{clock_face(self.left_s)} left")

    def end(self) -> None:
        self._took.append(self._clock() - self._begun)


def clock_face(seconds: float) -> str:
    whole = max(0, round(seconds))
    return f"{whole // 60}:{whole % 60:02d}"


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
