from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from assay.benchmarks.weights.orchestration.store_kind import Handle
from assay.benchmarks.weights.scenarios.budget import ScenarioBudget
from assay.benchmarks.weights.scenarios.cost import Cost, time_call
from assay.benchmarks.weights.tables.readings import Readings
from assay.process.usage.allocation_meter import AllocationMeter
from assay.process.usage.memory_meter import MemoryMeter

Call: TypeAlias = Callable[[], object]


@dataclass(frozen=True)
class Operation:
    """Something done to a store over and over. `prepare` makes the next call outside the time."""

    name: str
    nbytes: int
    prepare: Callable[[int], Call]
    items: int = 1
    """Things that one call does, for operations a second."""


@dataclass(frozen=True)
class Timings:
    operation: Operation
    costs: list[Cost]
    extra_bytes: int

    @property
    def megabytes_per_cpu_s(self) -> float:
        return self.operation.nbytes / 1e6 / max(min(cost.cpu_s for cost in self.costs), 1e-9)


def time_operations(
    handle: Handle, operations: list[Operation], budget: ScenarioBudget, most: int
) -> Iterator[Timings]:
    """Each operation gets an equal part of what is left. The first call warms up, and shows what it allocates."""
    for number, operation in enumerate(operations):
        part = budget.part(1 / (len(operations) - number))
        extra_bytes = _extra_bytes(handle, operation.prepare(0))
        costs = []
        for round_number in part.rounds(most):
            call = operation.prepare(round_number + 1)
            costs.append(time_call(handle.store, call)[1])
        yield Timings(operation, costs, extra_bytes)


def _extra_bytes(handle: Handle, call: Call) -> int:
    """What one call allocates at its peak, through Python and numpy; of a store in its own process, what that holds."""
    if handle.pid is not None:
        with MemoryMeter(handle.pid) as held:
            call()
        return held.extra
    with AllocationMeter() as allocated:
        call()
    return allocated.peak


def add_timings(readings: Readings, timings: Timings, floor: Timings | None, store: str) -> None:
    operation = timings.operation
    here = readings.at(store=store, operation=operation.name)
    milliseconds = [cost.wall_s * 1e3 for cost in timings.costs]
    for name, share in (("p50", 50), ("p95", 95), ("p99", 99)):
        samples = milliseconds if name == "p50" else ()
        here.add(f"latency_{name}", float(np.percentile(milliseconds, share)), "ms", "lower", samples)
    median = float(np.median(milliseconds)) / 1e3
    here.add("operations", operation.items / median, "1/s", "higher")
    here.add("calls", len(timings.costs), None)
    if not operation.nbytes:
        return
    here.add("throughput", operation.nbytes / 1e6 / median, "MB/s", "higher")
    here.add("cpu_throughput", timings.megabytes_per_cpu_s, "MB/CPU-s", "higher")
    here.add("memory_efficiency", operation.nbytes / max(timings.extra_bytes, 1), "x", "higher")
    here.add("extra_memory", timings.extra_bytes / 1e6, "MB", "lower")
    if floor is not None:
        ratio = timings.megabytes_per_cpu_s / floor.megabytes_per_cpu_s
        here.add("of_safetensors", ratio, "x", "higher")
