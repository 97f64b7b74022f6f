from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.benchmarks.weights.profile import Profile
from assay.benchmarks.weights.progress import clock_face
from assay.benchmarks.weights.scenario_config import ScenarioConfig


@dataclass(frozen=True)
class Step:
    suite: str
    scenario: str
    estimate_s: float
    """What it will take: its whole work, or its share of the budget if that is less."""
    budget_s: float


@dataclass(frozen=True)
class BenchPlan:
    """Every scenario with its share of the profile's time, worked out for this machine."""

    profile: Profile
    config: ScenarioConfig
    steps: tuple[Step, ...]
    whole_s: float
    """Without a budget."""

    @classmethod
    def of(cls, profile: Profile, config: ScenarioConfig, estimates: Sequence[tuple[str, str, float]]) -> BenchPlan:
        """A scenario may take up to twice its estimate when there is time to spare. Too little of it shortens the
        longest scenarios first, down to the same length each, and none is left out.
        """
        work = [seconds for _, _, seconds in estimates]
        cap = _common_cap(work, profile.seconds)
        slack = min(2.0, max(1.0, profile.seconds / max(sum(work), 1e-9)))
        steps = tuple(
            Step(suite, scenario, min(seconds, cap), min(seconds, cap) * slack)
            for suite, scenario, seconds in estimates
        )
        return cls(profile, config, steps, sum(work))

    @property
    def estimate_s(self) -> float:
        return sum(step.estimate_s for step in self.steps)

    def of_suite(self, suite: str) -> Iterator[Step]:
        return (step for step in self.steps if step.suite == suite)

    def __str__(self) -> str:
        machine = self.config.machine
        line = (
            f"profile {self.profile.name}: budget {clock_face(self.profile.seconds)}, estimated on this machine "
            f"{clock_face(self.estimate_s)} ({machine.cores} cores, {machine.available_mb / 1000:.1f} GB free, "
            f"commit {machine.commit_mb_s:,.0f} MB/s, checkout {machine.checkout_mb_s:,.0f} MB/s)"
        )
        if self.whole_s > self.profile.seconds:
            line += f"\nall repetitions would take {clock_face(self.whole_s)}: there will be fewer, to fit"
        return line


def _common_cap(work: Sequence[float], total: float) -> float:
    """The longest any part may be so that all fit: max-min fair sharing."""
    left = total
    for number, seconds in enumerate(sorted(work)):
        share = left / (len(work) - number)
        if seconds > share:
            return share
        left -= seconds
    return float("inf")
