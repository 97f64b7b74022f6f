"""How long the operations of a store take, and how that compares with writing plain bytes."""

from __future__ import annotations

from collections.abc import Iterable

from assay.benchmarks.weight_probes.operations import BATCH, OPERATIONS, Timings, add_timings, time_operations
from assay.benchmarks.weight_scenarios.scenario_config import ScenarioBudget, ScenarioConfig
from assay.benchmarks.weights.results import Readings, SuiteResult
from assay.benchmarks.weights.stores import FLOOR
from assay.benchmarks.weights.suite import BenchmarkSuite
from assay.benchmarks.weights.tables import Columns, Table

SAMPLES_PER_ITERATION = 20
"""Percentiles need more calls than a median does: `iterations` times this many at most, while the time lasts."""

COLUMNS: Columns = {
    "Operation": lambda line: line.labels["operation"].replace("_", " ").title(),
    "Time (ms)": "{latency_p50:.2f}",
    "p95": "{latency_p95:.2f}",
    "p99": "{latency_p99:.2f}",
    "Throughput": "{throughput:,.1f} MB/s",
    "Ops/s": "{operations:,.0f}",
    "Of safetensors": "{of_safetensors:.2f}x",
    "Memory": "{extra_memory:.1f} MB",
}


class PerformanceSuite(BenchmarkSuite):
    name = "performance"
    interpretation = (
        "<50ms operations: Suitable for interactive use",
        "<500ms operations: Acceptable for batch processing",
        ">1s operations: May need optimization for large-scale use",
        ">50 MB/s throughput: Good I/O performance",
        "Of safetensors: bytes per CPU-second over those of plain safetensors doing the same",
        "Memory: what Python and numpy allocate at the operation's peak",
    )

    def get_scenarios(self) -> list[str]:
        return [name for name in OPERATIONS if name != "io_intensive" or self.settings.io_intensive]

    def estimate(self, name: str, config: ScenarioConfig) -> float:
        model = config.smallest.nbytes(4) / 1e6
        megabytes = {"storage_operations": model + 1, "delta_operations": 1, "batch_operations": 4, "io_intensive": 64}
        each, machine = megabytes.get(name, 0.1), config.machine
        call = each / machine.commit_mb_s + each / machine.checkout_mb_s + each / machine.generate_mb_s + 0.004
        return 1.0 + call * SAMPLES_PER_ITERATION * config.iterations * (len(config.stores) + 0.3)

    def run_scenario(self, name: str, config: ScenarioConfig) -> Readings:
        readings = Readings()
        floor = {t.operation.name: t for t in self._timings(name, FLOOR, config, config.budget.part(0.25))}
        for number, store in enumerate(config.stores):
            budget = config.budget.part(1 / (len(config.stores) - number))
            for timings in self._timings(name, store, config, budget):
                add_timings(readings, timings, floor.get(timings.operation.name), store)
            if name == "batch_operations":
                _add_batch_gain(readings, store)
        return readings

    def _timings(self, name: str, store: str, config: ScenarioConfig, budget: ScenarioBudget) -> list[Timings]:
        with config.open_store(store) as handle:
            operations = OPERATIONS[name](handle, config.smallest.parameters, config.seed)
            return list(time_operations(handle, operations, budget, SAMPLES_PER_ITERATION * config.iterations))

    def tables(self, result: SuiteResult) -> Iterable[Table]:
        stores = result.stores
        for store in stores:
            lines = [line for line in result.lines() if line.store == store]
            timed = [line for line in lines if "latency_p50" in line]
            title = "Operation Performance" + (f" ({store})" if len(stores) > 1 else "")
            notes = tuple(
                f"{BATCH} weights at once are {line[gain]:.1f} times as fast as singly ({gain.removeprefix('gain_')})"
                for line in lines
                for gain in line.metrics
                if gain.startswith("gain_")
            )
            yield Table.of(title, COLUMNS, timed, self.interpretation if store == stores[-1] else (), notes)


def _add_batch_gain(readings: Readings, store: str) -> None:
    for what, batch, single in (("save", "batch_save", "single_saves"), ("load", "batch_load", "single_loads")):
        one, many = (readings[f"{store}.{name}.latency_p50"].value for name in (single, batch))
        readings.at(store=store).add(f"gain_{what}", one / many, "x", "higher")


if __name__ == "__main__":
    from assay.benchmarks.weights.program import main

    raise SystemExit(main("performance"))
