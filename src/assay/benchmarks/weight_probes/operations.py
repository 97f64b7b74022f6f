"""The operations of the performance suite, scenario by scenario, as calls on any store.

Reads of whole weights start with a store that was just opened; look-ups and filters with one that is in use.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np

from assay.benchmarks.weight_scenarios.scenario_config import ScenarioBudget
from assay.benchmarks.weight_scenarios.scenario_data import scenario_data
from assay.benchmarks.weight_scenarios.version_chain import Cost, time_call
from assay.benchmarks.weights.results import Readings
from assay.benchmarks.weights.stores import Handle
from assay.process.usage import AllocationMeter, MemoryMeter
from assay.weights.store import Tensor

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


WEIGHT_SHAPE = (512, 512)
"""One weight of a megabyte in float32: an attention projection of a small language model."""
QUERIED = 400
BATCH = 32
IO_PARAMETERS = 16_000_000


def storage_operations(handle: Handle, parameters: int, seed: int) -> list[Operation]:
    weights = _Weights(seed)
    model = dict(scenario_data("similar", "float32", parameters, 2, seed).versions[0].tensors)
    nbytes = sum(tensor.nbytes for tensor in model.values())
    saved = [handle.store.commit({"weight": weights.fresh()}) for _ in range(4)]
    whole = handle.store.commit(model)

    def save(_: int) -> Call:
        weight = weights.fresh()

        def call() -> object:
            handle.store.save("weight", weight)
            return handle.store.commit()

        return call

    def commit(number: int) -> Call:
        step = np.float32(1e-3 * (number + 1))
        return partial(handle.store.commit, {name: tensor + step for name, tensor in model.items()})

    return [
        Operation("save_weight", weights.nbytes, save),
        Operation("load_weight", weights.nbytes, lambda n: _read_cold(handle, saved[n % 4], ["weight"])),
        Operation("commit_model", nbytes, commit),
        Operation("checkout_model", nbytes, lambda _: _read_cold(handle, whole)),
    ]


def delta_operations(handle: Handle, parameters: int, seed: int) -> list[Operation]:
    weights = _Weights(seed)
    base = weights.fresh()
    handle.store.commit({"weight": base})
    children = [handle.store.commit({"weight": weights.near(base)}) for _ in range(4)]
    return [
        Operation(
            "delta_encode", weights.nbytes, lambda _: partial(handle.store.commit, {"weight": weights.near(base)})
        ),
        Operation("reconstruct", weights.nbytes, lambda n: _read_cold(handle, children[n % 4], ["weight"])),
    ]


def query_performance(handle: Handle, parameters: int, seed: int) -> list[Operation]:
    rng = np.random.default_rng(seed)
    shapes = ((8, 8), (16, 4), (64,))
    model: dict[str, Tensor] = {
        f"block.{i}.{'weight' if i % 2 else 'bias'}": rng.standard_normal(shapes[i % 3]).astype(("f4", "f2")[i % 2])
        for i in range(QUERIED)
    }
    ref = handle.store.commit(model)
    names = list(model)
    operations = [Operation("lookup", 0, lambda n: partial(handle.store.load, ref, [names[n * 37 % len(names)]]))]
    find = getattr(handle.store, "find", None)
    if find is not None:
        operations += [
            Operation("filter_name", 0, lambda _: partial(find, ref, name="*.weight")),
            Operation("filter_shape", 0, lambda _: partial(find, ref, shape=(16, 4))),
            Operation("filter_dtype", 0, lambda _: partial(find, ref, dtype="float16")),
        ]
    return operations


def batch_operations(handle: Handle, parameters: int, seed: int) -> list[Operation]:
    rng = np.random.default_rng(seed)

    def batch() -> dict[str, Tensor]:
        return {f"w{i}": rng.standard_normal((64, 64), dtype=np.float32) for i in range(BATCH)}

    def save_each(_: int) -> Call:
        tensors = batch()
        return lambda: [handle.store.commit({name: tensor}) for name, tensor in tensors.items()]

    def load_each(_: int) -> Call:
        store = handle.reopen()
        return lambda: [store.load(ref, [name]) for name in kept]

    kept = batch()
    ref = handle.store.commit(kept)
    nbytes = sum(tensor.nbytes for tensor in kept.values())
    return [
        Operation("batch_save", nbytes, lambda _: partial(handle.store.commit, batch()), items=BATCH),
        Operation("single_saves", nbytes, save_each, items=BATCH),
        Operation("batch_load", nbytes, lambda _: _read_cold(handle, ref), items=BATCH),
        Operation("single_loads", nbytes, load_each, items=BATCH),
    ]


def io_intensive(handle: Handle, parameters: int, seed: int) -> list[Operation]:
    """64 MB at a time; reads start with nothing of the store in the page cache."""
    weights = np.random.default_rng(seed).standard_normal(IO_PARAMETERS, dtype=np.float32)
    ref = handle.store.commit({"w": weights})

    def write(number: int) -> Call:
        moved = {"w": weights + np.float32(number + 1)}

        def call() -> None:
            handle.store.commit(moved)
            os.sync()

        return call

    def read(_: int) -> Call:
        _forget_cached(handle.path)
        return _read_cold(handle, ref)

    return [Operation("durable_write", weights.nbytes, write), Operation("cold_read", weights.nbytes, read)]


OPERATIONS: dict[str, Callable[[Handle, int, int], list[Operation]]] = {
    made.__name__: made
    for made in (storage_operations, delta_operations, query_performance, batch_operations, io_intensive)
}


class _Weights:
    nbytes = 4 * WEIGHT_SHAPE[0] * WEIGHT_SHAPE[1]

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def fresh(self) -> Tensor:
        return np.asarray(self._rng.standard_normal(WEIGHT_SHAPE, dtype=np.float32) * np.float32(0.02))

    def near(self, base: Tensor) -> Tensor:
        return np.asarray(base + self._rng.standard_normal(WEIGHT_SHAPE, dtype=np.float32) * np.float32(2e-5))


def _read_cold(handle: Handle, ref: str, names: list[str] | None = None) -> Call:
    return partial(handle.reopen().load, ref, names)


def _forget_cached(folder: Path) -> None:
    for file in folder.rglob("*"):
        if file.is_file():
            with file.open("rb") as opened:
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
