"""How cost grows: with the size of a model, with the number of models, with the number of users."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from assay.benchmarks.weight_probes.concurrency import measure_readers
from assay.benchmarks.weight_scenarios.scenario_config import SIZES, ModelSize, ScenarioConfig
from assay.benchmarks.weight_scenarios.version_chain import Cost, time_call
from assay.benchmarks.weights.results import Readings, ResultLine, SuiteResult
from assay.benchmarks.weights.suite import BenchmarkSuite
from assay.benchmarks.weights.tables import Table, fits_table, points_table
from assay.process.usage import MemoryMeter, UsageMeter
from assay.stats.fits import fit_power_law, parallel_efficiency
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


REPOSITORY_PARAMETERS = 60_000


class ScalabilitySuite(BenchmarkSuite):
    name = "scalability"
    interpretation = (
        "Exponent 1: CPU time grows in step with size; above 1 (whole interval): faster, which will hurt",
        "Degrades at: the first point whose throughput is below 80% of the best; -: none",
        "Bottleneck: CPU where a core is kept busy, I/O where it waits, queueing for a busy core not counted",
    )

    def get_scenarios(self) -> list[str]:
        return ["model_size", "repository_size", "concurrent_access", "hardware_utilization"]

    def estimate(self, name: str, config: ScenarioConfig) -> float:
        machine, stores = config.machine, len(config.stores)
        if name == "model_size":
            return stores * sum(machine.chain_s(size.nbytes(4) * 2 / 1e6) * 2 for size in _sizes(config))
        if name == "repository_size":
            megabytes = max(_counts(config)) * REPOSITORY_PARAMETERS * 4 / 1e6
            return stores * (machine.chain_s(megabytes) * 2 + 0.01 * max(_counts(config)))
        if name == "concurrent_access":
            return stores * len(_users(config)) * (2 * machine.process_start_s + 1 + _seconds(config))
        return stores * machine.chain_s(config.smallest.nbytes(4) * 8 / 1e6) * 1.5

    def run_scenario(self, name: str, config: ScenarioConfig) -> Readings:
        readings = Readings()
        for store in config.stores:
            getattr(self, f"_{name}")(store, config, readings)
        return readings

    def _model_size(self, store: str, config: ScenarioConfig, readings: Readings) -> None:
        """One model committed, then a child of it; each size several times, so that the fit has an honest interval."""
        points: list[ScalingPoint] = []
        for size in _sizes(config):
            reason = config.too_big(size.nbytes(4) * 4)
            seconds = config.machine.chain_s(size.nbytes(4) * 2 / 1e6)
            if len({point.size for point in points}) >= 2:
                reason = reason or config.too_long(seconds, allowed_s=2)
            if reason:
                readings.note(f"{size.name} ({size.parameters:,} parameters) left out: {reason}")
                continue
            rounds = 3 if config.budget.affords(3 * seconds) else 1
            samples = [commit_and_checkout(store, size, config, number) for number in range(rounds)]
            points += samples
            here = readings.at(store=store, point=size.name)
            add_speeds(here, size.nbytes(4) * 2 / 1e6, samples)
            here.add("size", size.parameters, "parameters")
        add_fits(readings, store, points)

    def _repository_size(self, store: str, config: ScenarioConfig, readings: Readings) -> None:
        """Cost of one more model in a repository that already holds n of them."""
        rng = np.random.default_rng(config.seed)
        base: dict[str, Tensor] = {
            f"layers.{i}": rng.standard_normal(REPOSITORY_PARAMETERS // 10, dtype=np.float32) for i in range(10)
        }
        nbytes = sum(tensor.nbytes for tensor in base.values())
        points: list[ScalingPoint] = []
        with config.open_store(store) as handle:
            refs: list[str] = []
            for count in _counts(config):
                while len(refs) < count:
                    refs.append(handle.store.commit(move_model(base, rng)))
                samples = []
                for _ in range(5):
                    model = move_model(base, rng)
                    ref, commit = time_call(handle.store, partial(handle.store.commit, model))
                    refs.append(ref)
                    opened = handle.reopen()
                    _, checkout = time_call(opened, partial(opened.load, ref))
                    samples.append(ScalingPoint(count, commit, checkout))
                points += samples
                here = readings.at(store=store, point=f"{count} models")
                add_speeds(here, nbytes / 1e6, samples)
                here.add("size", count, "models")
        add_fits(readings, store, points)

    def _concurrent_access(self, store: str, config: ScenarioConfig, readings: Readings) -> None:
        points = []
        seconds, parameters = _seconds(config), config.smallest.parameters
        for users in _users(config):
            points.append(readings.at(store=store, point=f"{users} users"))
            with config.scratch() as folder:
                measure_readers(points[-1], store, folder / "s", users, seconds, parameters, config.settings)
        if len(points) > 1:
            efficiency = parallel_efficiency(
                [point["size"] for point in points], [point["checkout_speed"] for point in points]
            )
            readings.at(store=store).add("parallel_efficiency", efficiency, "x", "higher")
        add_degradation(readings, store, "checkout_speed")

    def _hardware_utilization(self, store: str, config: ScenarioConfig, readings: Readings) -> None:
        size = config.smallest
        with config.open_store(store) as handle:
            pid = handle.pid
            rng = np.random.default_rng(config.seed)
            base: dict[str, Tensor] = {"w": rng.standard_normal(size.parameters, dtype=np.float32)}
            models = [base] + [move_model(base, rng) for _ in range(5)]
            with UsageMeter(pid) as commit, MemoryMeter(pid) as commit_memory:
                refs = [handle.store.commit(model) for model in models]
            opened = handle.reopen()
            with UsageMeter(pid) as checkout, MemoryMeter(pid) as checkout_memory:
                for ref in refs:
                    opened.load(ref)
        for what, meter, memory in (("commit", commit, commit_memory), ("checkout", checkout, checkout_memory)):
            here = readings.at(store=store, point=what)
            used = meter.used
            here.add("cpu_utilization", 100 * used.cores / config.machine.cores, "%")
            here.add("cores_used", used.cores, "cores")
            here.add("written", used.written_mb / used.wall_s, "MB/s")
            here.add("read", used.read_mb / used.wall_s, "MB/s")
            here.add("peak_memory", memory.peak / 1e6, "MB", "lower")
            here.add("bottleneck", used.bottleneck)

    def tables(self, result: SuiteResult) -> Iterable[Table]:
        yield points_table(result)
        yield fits_table(result, self.interpretation)


def _sizes(config: ScenarioConfig) -> list[ModelSize]:
    """The profile's sizes and two below them, since a fit wants more than a decade."""
    return [SIZES["tiny"], ModelSize("tiny-3", 300_000), *config.sizes]


def _counts(config: ScenarioConfig) -> list[int]:
    """Few models to hundreds: how far depends on how much the profile repeats."""
    return [count for count in (1, 4, 16, 64, 200) if count <= 5 * config.iterations**2]


def _users(config: ScenarioConfig) -> list[int]:
    return [users for users in (1, 2, 4, 8) if users <= max(1, config.settings.workers)]


def _seconds(config: ScenarioConfig) -> float:
    return min(5.0, 0.3 * config.iterations)


if __name__ == "__main__":
    from assay.benchmarks.weights.program import main

    raise SystemExit(main("scalability"))
