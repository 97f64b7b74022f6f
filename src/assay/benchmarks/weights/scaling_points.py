from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from assay.benchmarks.weights.scenarios.cost import Cost, time_call
from assay.benchmarks.weights.scenarios.model_size import ModelSize
from assay.benchmarks.weights.scenarios.scenario_config import ScenarioConfig
from assay.benchmarks.weights.tables.readings import Readings, ResultLine
from assay.stats.scaling import fit_power_law
from assay.weights.store import Tensor

DEGRADED = 0.8
"""Throughput below this share of the best point counts as degraded."""


def move_model(base: dict[str, Tensor], rng: np.random.Generator) -> dict[str, Tensor]:
    return {n: t + rng.standard_normal(t.shape, dtype=np.float32) * np.float32(1e-3) for n, t in base.items()}


@dataclass(frozen=True)
class ScalingPoint:
    """Cost of committing and of checking out at one size."""

    size: float
    commit: Cost
    checkout: Cost


def commit_and_checkout(store: str, size: ModelSize, config: ScenarioConfig, seed: int) -> ScalingPoint:
    """Cost of a model and a child of it."""
    rng = np.random.default_rng(seed)
    # Eight tensors whatever the size, so that what grows is the bytes and not the count.
    base: dict[str, Tensor] = {f"w{i}": rng.standard_normal(size.parameters // 8, dtype=np.float32) for i in range(8)}
    commits, checkouts = Cost(), Cost()
    with config.open_store(store) as handle:
        refs = []
        for model in (base, move_model(base, rng)):
            ref, cost = time_call(handle.store, partial(handle.store.commit, model))
            refs.append(ref)
            commits += cost
        for ref in refs:
            opened = handle.reopen()
            checkouts += time_call(opened, partial(opened.load, ref))[1]
    return ScalingPoint(size.parameters, commits, checkouts)


def add_speeds(here: ResultLine, megabytes: float, samples: list[ScalingPoint]) -> None:
    """The fastest of the samples, each of which moved so many megabytes one way and the other."""
    commits = [megabytes / sample.commit.wall_s for sample in samples]
    checkouts = [megabytes / sample.checkout.wall_s for sample in samples]
    here.add("commit_speed", max(commits), "MB/s", "higher", commits)
    here.add("checkout_speed", max(checkouts), "MB/s", "higher", checkouts)


def add_fits(readings: Readings, store: str, points: list[ScalingPoint]) -> None:
    """Fitted to CPU time: how the wall clock runs depends on what else the machine does."""
    here = readings.at(store=store)
    if len({point.size for point in points}) < 2:
        return
    for what in ("commit", "checkout"):
        costs = [max(getattr(point, what).cpu_s, 1e-6) for point in points]
        fit = fit_power_law([point.size for point in points], costs)
        here.add(f"{what}_exponent", fit.exponent, None, "lower")
        here.add(f"{what}_exponent_low", fit.low)
        here.add(f"{what}_exponent_high", fit.high)
        here.add(f"{what}_coefficient", fit.coefficient, "s")
        here.add(f"{what}_r_squared", fit.r_squared)
        add_degradation(readings, store, f"{what}_speed")


def add_degradation(readings: Readings, store: str, what: str) -> None:
    """The first point after the best one that is below `DEGRADED` of it."""
    points = [line for line in readings.lines if line.store == store and what in line]
    best = int(np.argmax([line[what] for line in points]))
    fallen = next((line for line in points[best + 1 :] if line[what] < DEGRADED * points[best][what]), None)
    name = what.removesuffix("_speed")
    readings.at(store=store).add(f"{name}_degrades_at", fallen.labels["point"] if fallen else "-")
