"""How much memory a store takes, each figure from a process of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from assay.benchmarks.weight_probes.fresh_process import ask_fresh_process
from assay.benchmarks.weight_scenarios.scenario_config import ScenarioConfig
from assay.benchmarks.weights.results import Readings, ResultLine, SuiteResult
from assay.benchmarks.weights.suite import BenchmarkSuite
from assay.benchmarks.weights.tables import Table
from assay.stats.fits import LineFit, fit_line

JOBS = {"peak_usage": "peak", "memory_leaks": "leak", "garbage_collection": "garbage", "lazy_loading": "lazy"}
OPERATIONS = ("commit", "delta_commit", "checkout", "delta_checkout")
SMALL_MODEL = 250_000
LEAKING = {"commit": 0.1, "checkout": 0.01}
"""Shares of the payload that may stay behind: an index grows with what is committed; a checkout leaves nothing."""


class MemorySuite(BenchmarkSuite):
    name = "memory"
    interpretation = (
        "Peak over payload: memory held beyond what the caller holds, over the model's size; a checkout's result is 1x",
        "Growth: bytes that stay behind; a leak if the whole interval is above zero and it is no mere index entry",
        "GC pressure: share of the time spent in Python's garbage collector; returned: memory freed after use",
        "Lazy: memory to look at one tensor of many, over that tensor's size; near 1x nothing else was read",
    )

    def get_scenarios(self) -> list[str]:
        return list(JOBS)

    def estimate(self, name: str, config: ScenarioConfig) -> float:
        machine = config.machine
        megabytes = {
            "peak_usage": sum(size.nbytes(4) * 2 for size in config.sizes) / 1e6,
            "lazy_loading": config.smallest.nbytes(4) / 1e6,
        }.get(name, SMALL_MODEL * 4 * _operations(config) / 1e6)
        starts = len(config.sizes) if name == "peak_usage" else 1
        return len(config.stores) * (starts * (machine.process_start_s + 2) + 1.5 * machine.chain_s(megabytes))

    def run_scenario(self, name: str, config: ScenarioConfig) -> Readings:
        readings = Readings()
        for store in config.stores:
            getattr(self, f"_{name}")(store, config, readings)
        return readings

    def _peak_usage(self, store: str, config: ScenarioConfig, readings: Readings) -> None:
        for number, size in enumerate(config.sizes):
            reason = config.too_big(size.nbytes(4) * 5)
            if number:  # the smallest is always measured
                reason = reason or config.too_long(config.machine.chain_s(2 * size.nbytes(4) / 1e6))
            if reason:
                readings.note(f"{size.name} left out: {reason}")
                continue
            found = self._ask("peak", store, config, parameters=size.parameters)
            here = readings.at(store=store, size=size.name)
            here.add("payload", found["payload"] / 1e6, "MB")
            for operation in OPERATIONS:
                here.add(f"{operation}_peak", found[operation] / 1e6, "MB", "lower")
                here.add(f"{operation}_peak_over_payload", found[operation] / found["payload"], "x", "lower")
            most = max(found[operation] for operation in OPERATIONS)
            here.add("memory_efficiency", found["payload"] / max(most, 1), "x", "higher")

    def _memory_leaks(self, store: str, config: ScenarioConfig, readings: Readings) -> None:
        found = self._ask("leak", store, config, parameters=SMALL_MODEL, operations=_operations(config))
        here = readings.at(store=store)
        here.add("payload_per_operation", SMALL_MODEL * 4, "B")
        for what, allowed in LEAKING.items():
            resident = found[what + "s"]
            growth = fit_growth(resident)
            here.add(f"growth_per_{what}", growth.slope, "B", "lower", resident)
            here.add(f"growth_per_{what}_low", growth.low, "B")
            here.add(f"growth_per_{what}_high", growth.high, "B")
            here.add(f"{what}_leaks", growth.low > 0 and growth.slope > allowed * SMALL_MODEL * 4)

    def _garbage_collection(self, store: str, config: ScenarioConfig, readings: Readings) -> None:
        found = self._ask("garbage", store, config, parameters=SMALL_MODEL, operations=_operations(config))
        here = readings.at(store=store)
        here.add("gc_pressure", 100 * found["share"], "%", "lower")
        here.add("gc_runs_per_operation", found["collections"] / found["operations"], None, "lower")
        here.add("gc_objects_per_operation", found["collected"] / found["operations"], None, "lower")
        here.add("left_unreachable", found["unreachable"], None, "lower")
        returned = 1 - found["kept"] / found["held"] if found["held"] > 0 else 1.0
        here.add("memory_returned", 100 * returned, "%", "higher")

    def _lazy_loading(self, store: str, config: ScenarioConfig, readings: Readings) -> None:
        found = self._ask(
            "lazy", store, config, parameters=max(SMALL_MODEL * 20, config.smallest.parameters), tensors=32
        )
        here = readings.at(store=store)
        here.add("one_tensor_over_its_size", found["one"] / found["touched"], "x", "lower")
        here.add("all_over_payload", found["everything"] / found["total"], "x", "lower")
        here.add("lazy_saving", 100 * (1 - found["one"] / max(found["everything"], 1)), "%", "higher")

    def _ask(self, job: str, store: str, config: ScenarioConfig, **question: Any) -> Any:
        with config.scratch() as folder:
            asked = {"job": job, "store": store, "path": str(folder), **question}
            return ask_fresh_process("memory", asked, config.settings, timeout=config.timeout)

    def tables(self, result: SuiteResult) -> Iterable[Table]:
        rows = tuple(row for line in result.lines() for row in _rows(line))
        yield Table("Memory Usage", ("Check", "Store", "Result"), rows, self.interpretation, result.notes)


def fit_growth(resident: Sequence[float]) -> LineFit:
    """Bytes an operation; the first third of the readings is left out, since caches and pools fill there."""
    kept = resident[len(resident) // 3 :]
    return fit_line(range(len(kept)), kept)


def _operations(config: ScenarioConfig) -> int:
    return 10 * config.iterations + 10


def _rows(line: ResultLine) -> Iterable[tuple[str, str, str]]:
    if line.scenario == "peak_usage":
        for operation in OPERATIONS:
            peak, over = line[f"{operation}_peak"], line[f"{operation}_peak_over_payload"]
            held = f"{peak:,.1f} MB, {over:.2f}x the payload"
            yield f"Peak, {operation.replace('_', ' ')}, {line.labels['size']}", line.store, held
    elif line.scenario == "memory_leaks":
        for what in LEAKING:
            slope, low, high = (line[f"growth_per_{what}{part}"] for part in ("", "_low", "_high"))
            stays = f"{slope:,.0f} B [{low:,.0f}, {high:,.0f}]"
            yield f"Growth per {what}", line.store, stays + (" LEAK" if line[f"{what}_leaks"] else "")
    elif line.scenario == "garbage_collection":
        pressure, returned = line["gc_pressure"], line["memory_returned"]
        yield "GC pressure", line.store, f"{pressure:.2f}% of the time, {returned:.0f}% of memory returned"
    else:
        one, saved = line["one_tensor_over_its_size"], line["lazy_saving"]
        yield "Lazy loading", line.store, f"one tensor takes {one:.2f}x its size, {saved:.0f}% less than all"


if __name__ == "__main__":
    from assay.benchmarks.weights.program import main

    raise SystemExit(main("memory"))
