"""Measures memory in a process that has done nothing else. The job is one of the functions below."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.benchmarks.weight_probes.machine import settle
from assay.benchmarks.weights.settings import SuiteSettings
from assay.benchmarks.weights.stores import Handle, store_kind
from assay.process.usage import MemoryMeter
from assay.weights.store import Tensor

Question = dict[str, Any]


def peak(handle: Handle, question: Question) -> dict[str, float]:
    """The most held beyond what the caller holds, for a first commit, a child of it, and reading both back."""
    model, child = _model(question, 0), _model(question, 1)
    meters = {}
    with MemoryMeter(handle.pid) as meters["commit"]:
        first = handle.store.commit(model)
    with MemoryMeter(handle.pid) as meters["delta_commit"]:
        second = handle.store.commit(child)
    for name, ref in (("checkout", first), ("delta_checkout", second)):
        store = handle.reopen()
        settle()
        with MemoryMeter(handle.pid) as meters[name]:
            loaded = store.load(ref)
        del loaded
    return {"payload": _nbytes(model), **{name: meter.extra for name, meter in meters.items()}}


def leak(handle: Handle, question: Question) -> dict[str, list[int]]:
    """Resident memory after each of many commits, then after each of many checkouts of the same versions."""
    meter = MemoryMeter(handle.pid)
    model = _model(question, 0)
    refs = [handle.store.commit(model)]
    commits, checkouts = [], []
    for number in range(question["operations"]):
        _change(model, number)
        refs.append(handle.store.commit(model))
        settle()
        commits.append(meter.resident())
    for number in range(question["operations"]):
        handle.store.load(refs[number % 4])
        settle()
        checkouts.append(meter.resident())
    return {"commits": commits, "checkouts": checkouts}


def garbage(handle: Handle, question: Question) -> dict[str, float]:
    """What Python's collector has to do during operations, and how much memory returns once tensors are dropped."""
    store, model = handle.store, _model(question, 0)
    ref = store.commit(model)
    meter = MemoryMeter(handle.pid)
    spent, runs, collected, began = 0.0, 0, 0, 0.0

    def watch(phase: str, info: dict[str, int]) -> None:
        nonlocal spent, runs, collected, began
        if phase == "start":
            began = time.perf_counter()
        else:
            spent += time.perf_counter() - began
            runs, collected = runs + 1, collected + info["collected"]

    gc.collect()
    gc.callbacks.append(watch)
    start = time.perf_counter()
    for number in range(question["operations"]):
        _change(model, number)
        store.commit(model)
        store.load(ref)
    elapsed = time.perf_counter() - start
    gc.callbacks.remove(watch)
    settle()
    before = meter.resident()
    held = [store.load(ref) for _ in range(3)]
    full = meter.resident()
    del held
    unreachable = settle()
    after = meter.resident()
    return {
        "operations": question["operations"],
        "collections": runs,
        "collected": collected,
        "share": spent / elapsed,
        "unreachable": unreachable,
        "held": full - before,
        "kept": max(0, after - before),
    }


def lazy(handle: Handle, question: Question) -> dict[str, float]:
    """Everything read, against one tensor of many."""
    model = _model(question, 0)
    ref = handle.store.commit(model)
    name = next(iter(model))
    store = handle.reopen()
    settle()
    with MemoryMeter(handle.pid) as one:
        loaded = store.load(ref) if handle.kind.own else store.load(ref, [name])
        touched = loaded[name].nbytes
    del loaded
    store = handle.reopen()
    settle()
    with MemoryMeter(handle.pid) as all_of_it:
        everything = store.load(ref)
        total = sum(everything[key].nbytes for key in model)
    return {"touched": touched, "one": one.extra, "total": total, "everything": all_of_it.extra}


def _open(question: Question, settings: SuiteSettings) -> Handle:
    """Opened and used once, so that libraries and compiled code are not counted as the operation's memory."""
    kind = store_kind(question["store"], settings)
    config: dict[str, Any] = {}
    if kind.own:
        config["lazy_loading"] = question["job"] == "lazy"
    if kind.own and question["job"] == "leak":
        # The smallest cache: one with a bound must be full before what stays behind can be told from what it keeps.
        config["memory_limit_mb"] = 16
    kind = replace(kind, config=config)
    small: dict[str, Tensor] = {"w": np.arange(3000, dtype=np.float32)}
    with kind.use(Path(question["path"]) / "warm") as warm:
        for version in (small, {"w": small["w"] + 1}):
            warm.load(warm.commit(version))["w"].sum()
    return Handle(kind, Path(question["path"]) / "store")


def _model(question: Question, version: int) -> dict[str, Tensor]:
    rng = np.random.default_rng(7)
    count, tensors = question["parameters"], question.get("tensors", 16)
    model = {f"w{i}": rng.standard_normal(count // tensors, dtype=np.float32) for i in range(tensors)}
    for _ in range(version):
        for tensor in model.values():
            tensor += rng.standard_normal(tensor.shape, dtype=np.float32) * np.float32(1e-3)
    return model


def _nbytes(model: dict[str, Tensor]) -> int:
    return sum(tensor.nbytes for tensor in model.values())


def _change(model: dict[str, Tensor], number: int) -> None:
    for tensor in model.values():
        tensor.reshape(-1)[number % tensor.size] += 1


JOBS: dict[str, Callable[[Handle, Question], Any]] = {"peak": peak, "leak": leak, "garbage": garbage, "lazy": lazy}


def answer(question: Question, settings: SuiteSettings) -> Iterator[Any]:
    with _open(question, settings) as handle:
        yield JOBS[question["job"]](handle, question)
