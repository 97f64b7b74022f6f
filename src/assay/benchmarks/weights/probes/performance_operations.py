"""The operations of the performance suite, scenario by scenario, as calls on any store.

Reads of whole weights start with a store that was just opened; look-ups and filters with one that is in use.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from assay.benchmarks.weights.orchestration.store_kind import Handle
from assay.benchmarks.weights.probes.operation import Operation
from assay.benchmarks.weights.scenarios.scenario_data import scenario_data
from assay.weights.store import Tensor

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

    def save(_: int) -> Callable[[], object]:
        weight = weights.fresh()

        def call() -> object:
            handle.store.save("weight", weight)
            return handle.store.commit()

        return call

    def commit(number: int) -> Callable[[], object]:
        moved = {name: tensor + np.float32(1e-3 * (number + 1)) for name, tensor in model.items()}
        return lambda: handle.store.commit(moved)

    return [
        Operation("save_weight", "Save Weight", weights.nbytes, save),
        Operation("load_weight", "Load Weight", weights.nbytes, lambda n: _read_cold(handle, saved[n % 4], ["weight"])),
        Operation("commit_model", "Commit Model", nbytes, commit),
        Operation("checkout_model", "Checkout Model", nbytes, lambda _: _read_cold(handle, whole)),
    ]


def delta_operations(handle: Handle, parameters: int, seed: int) -> list[Operation]:
    weights = _Weights(seed)
    base = weights.fresh()
    handle.store.commit({"weight": base})
    children = [handle.store.commit({"weight": weights.near(base)}) for _ in range(4)]

    def encode(_: int) -> Callable[[], object]:
        child = weights.near(base)
        return lambda: handle.store.commit({"weight": child})

    def rebuild(number: int) -> Callable[[], object]:
        return _read_cold(handle, children[number % 4], ["weight"])

    return [
        Operation("delta_encode", "Delta Encode", weights.nbytes, encode),
        Operation("reconstruct", "Reconstruct", weights.nbytes, rebuild),
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
    operations = [
        Operation(
            "lookup", "Lookup by Name", 0, lambda n: lambda: handle.store.load(ref, [names[n * 37 % len(names)]])
        ),
    ]
    find = getattr(handle.store, "find", None)
    if find is not None:
        operations += [
            Operation("filter_name", "Filter by Name", 0, lambda _: lambda: find(ref, name="*.weight")),
            Operation("filter_shape", "Filter by Shape", 0, lambda _: lambda: find(ref, shape=(16, 4))),
            Operation("filter_dtype", "Filter by Dtype", 0, lambda _: lambda: find(ref, dtype="float16")),
        ]
    return operations


def batch_operations(handle: Handle, parameters: int, seed: int) -> list[Operation]:
    rng = np.random.default_rng(seed)

    def batch() -> dict[str, Tensor]:
        return {f"w{i}": rng.standard_normal((64, 64), dtype=np.float32) for i in range(BATCH)}

    kept = batch()
    ref = handle.store.commit(kept)
    nbytes = sum(tensor.nbytes for tensor in kept.values())

    def together(_: int) -> Callable[[], object]:
        tensors = batch()
        return lambda: handle.store.commit(tensors)

    def apart(_: int) -> Callable[[], object]:
        tensors = batch()
        return lambda: [handle.store.commit({name: tensor}) for name, tensor in tensors.items()]

    return [
        Operation("batch_save", f"Save {BATCH} at Once", nbytes, together, items=BATCH),
        Operation("single_saves", f"Save {BATCH} Singly", nbytes, apart, items=BATCH),
        Operation("batch_load", f"Load {BATCH} at Once", nbytes, lambda _: _read_cold(handle, ref), items=BATCH),
        Operation(
            "single_loads",
            f"Load {BATCH} Singly",
            nbytes,
            lambda _: _read_each_cold(handle, ref, list(kept)),
            items=BATCH,
        ),
    ]


def io_intensive(handle: Handle, parameters: int, seed: int) -> list[Operation]:
    """64 MB at a time; reads start with nothing of the store in the page cache."""
    rng = np.random.default_rng(seed)
    model: dict[str, Tensor] = {"w": rng.standard_normal(IO_PARAMETERS, dtype=np.float32)}
    ref = handle.store.commit(model)
    folder = handle.path

    def write(number: int) -> Callable[[], object]:
        moved = {"w": model["w"] + np.float32(number + 1)}

        def call() -> object:
            made = handle.store.commit(moved)
            os.sync()
            return made

        return call

    def read(_: int) -> Callable[[], object]:
        _forget_cached(folder)
        return _read_cold(handle, ref)

    nbytes = model["w"].nbytes
    return [
        Operation("durable_write", "Durable Write", nbytes, write),
        Operation("cold_read", "Cold Read", nbytes, read),
    ]


OPERATIONS: dict[str, Callable[[Handle, int, int], list[Operation]]] = {
    "storage_operations": storage_operations,
    "delta_operations": delta_operations,
    "query_performance": query_performance,
    "batch_operations": batch_operations,
    "io_intensive": io_intensive,
}


class _Weights:
    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self.nbytes = 4 * WEIGHT_SHAPE[0] * WEIGHT_SHAPE[1]

    def fresh(self) -> Tensor:
        return np.asarray(self._rng.standard_normal(WEIGHT_SHAPE, dtype=np.float32) * np.float32(0.02))

    def near(self, base: Tensor) -> Tensor:
        return np.asarray(base + self._rng.standard_normal(WEIGHT_SHAPE, dtype=np.float32) * np.float32(2e-5))


def _read_cold(handle: Handle, ref: str, names: list[str] | None = None) -> Callable[[], object]:
    store = handle.reopen()
    return lambda: store.load(ref, names)


def _read_each_cold(handle: Handle, ref: str, names: list[str]) -> Callable[[], object]:
    store = handle.reopen()
    return lambda: [store.load(ref, [name]) for name in names]


def _forget_cached(folder: Path) -> None:
    for file in folder.rglob("*"):
        if file.is_file():
            with file.open("rb") as opened:
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
