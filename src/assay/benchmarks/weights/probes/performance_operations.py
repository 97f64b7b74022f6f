"""The operations of the performance suite, scenario by scenario, as calls on any store.

Reads of whole weights start with a store that was just opened; look-ups and filters with one that is in use.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from assay.benchmarks.weights.orchestration.store_kind import Handle
from assay.benchmarks.weights.probes.operation import Call, Operation
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
