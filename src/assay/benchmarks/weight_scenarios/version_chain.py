"""One store, one chain of versions: commit every version, check every version out, compare every bit."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from assay.benchmarks.weight_probes.machine import settle_machine
from assay.benchmarks.weight_scenarios.scenario_data import ModelVersion, ScenarioData
from assay.benchmarks.weights.settings import SuiteSettings
from assay.benchmarks.weights.stores import Handle, store_kind
from assay.weights.element_types import bits_of
from assay.weights.entropy_limit import RepositoryLimit, repository_limit
from assay.weights.repository_disk import bytes_on_disk
from assay.weights.store import StoreStats, Tensor, WeightStore

T = TypeVar("T")


@dataclass(frozen=True)
class Cost:
    """Seconds that something took: by the clock, and of the processor with all threads."""

    wall_s: float = 0.0
    cpu_s: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.wall_s + other.wall_s, self.cpu_s + other.cpu_s)


def time_call(store: WeightStore, call: Callable[[], T]) -> tuple[T, Cost]:
    """The answer and its cost; a store that works in a process of its own says its CPU time itself."""
    clock: Callable[[], float] = getattr(store, "cpu_seconds", time.process_time)
    cpu, wall = clock(), time.perf_counter()
    answer = call()
    return answer, Cost(time.perf_counter() - wall, clock() - cpu)


BOOKKEEPING = 0.001
"""Share by which what a store takes on disk differs between equal chains: it keeps the time of each commit."""


@dataclass(frozen=True)
class VersionChain:
    """The versions, and the limit that they are judged by, which is worked out once for all stores."""

    data: ScenarioData

    @cached_property
    def limit(self) -> RepositoryLimit:
        return repository_limit(self.data.models, self.data.parents)


@dataclass(frozen=True)
class ChainRun:
    store: str
    logical_bytes: int
    stored_bytes: int
    """Every file in the store's folder, counted from outside."""
    first_stored_bytes: int
    """Stored bytes after the first version alone."""
    commits: tuple[Cost, ...]
    checkouts: tuple[Cost, ...]
    """Version by version, without those that were refused."""
    wrong: tuple[str, ...]
    """`version/tensor: what is wrong`."""
    stats: StoreStats

    committed_bytes: int
    checked_out_bytes: int
    """Bytes of the versions that were not refused: what the times belong to."""

    @property
    def ratio(self) -> float:
        return self.logical_bytes / self.stored_bytes

    @property
    def later_bytes(self) -> int:
        """What the versions after the first add."""
        return self.stored_bytes - self.first_stored_bytes

    @property
    def commit_mb_per_cpu_s(self) -> float:
        return self.committed_bytes / 1e6 / max(sum(cost.cpu_s for cost in self.commits), 1e-9)

    @property
    def checkout_mb_per_cpu_s(self) -> float:
        """0 if nothing could be read."""
        return self.checked_out_bytes / 1e6 / max(sum(cost.cpu_s for cost in self.checkouts), 1e-9)


def run_chain(store: str, chain: VersionChain, folder: Path, settings: SuiteSettings | None = None) -> ChainRun:
    """One pass. What a store refuses with an error counts as wrong, and its time is not counted.

    The store is opened anew for every checkout: a cache that still holds what was committed would be measured instead.
    Free memory is given back before every step, so that none of the stores reads into pages another one has touched,
    and a little more than a step needs is fetched from the machine's host before, see `settle_machine`.
    """
    commits: list[tuple[ModelVersion, Cost]] = []
    checkouts: list[tuple[ModelVersion, Cost]] = []
    wrong: list[str] = []
    refs: list[str] = []
    first_bytes = 0
    with Handle(store_kind(store, settings), folder) as handle:
        for version in chain.data.versions:
            answer, cost = _attempt(handle.store, version, partial(commit_version, handle.store, version, refs))
            refs.append(answer if cost else "")
            if cost:
                commits.append((version, cost))
            else:
                wrong.append(f"{version.label}: {answer}")
            first_bytes = first_bytes or bytes_on_disk(folder)
        stats = handle.store.stats()
        for ref, version in zip(refs, chain.data.versions, strict=True):
            if not ref:
                continue
            opened = handle.reopen()
            answer, cost = _attempt(opened, version, partial(opened.load, ref))
            if cost:
                checkouts.append((version, cost))
                wrong += [f"{version.label}/{problem}" for problem in differences(version.tensors, answer)]
            else:
                wrong.append(f"{version.label}: {answer}")
    return ChainRun(
        store,
        chain.data.logical_bytes,
        bytes_on_disk(folder),
        first_bytes,
        commits=tuple(cost for _, cost in commits),
        checkouts=tuple(cost for _, cost in checkouts),
        wrong=tuple(wrong),
        stats=stats,
        committed_bytes=sum(version.nbytes for version, _ in commits),
        checked_out_bytes=sum(version.nbytes for version, _ in checkouts),
    )


def _attempt(store: WeightStore, version: ModelVersion, call: Callable[[], Any]) -> tuple[Any, Cost | None]:
    """The answer and its cost; what the store says and None where it refuses."""
    settle_machine(4 * version.nbytes)
    try:
        return time_call(store, call)
    except Exception as error:  # noqa: BLE001  whatever another store raises is its refusal
        return f"refused: {error}", None


def best_of(runs: list[ChainRun]) -> ChainRun:
    """The fastest time of each step over the rounds: on a shared machine noise only ever adds."""
    wrong = tuple(dict.fromkeys(problem for run in runs for problem in run.wrong))
    return replace(
        runs[0],
        commits=_fastest([run.commits for run in runs]),
        checkouts=_fastest([run.checkouts for run in runs]),
        wrong=wrong,
    )


def _fastest(rounds: list[tuple[Cost, ...]]) -> tuple[Cost, ...]:
    steps = zip(*rounds, strict=False)
    return tuple(Cost(min(cost.wall_s for cost in step), min(cost.cpu_s for cost in step)) for step in steps)


def commit_version(store: WeightStore, version: ModelVersion, refs: list[str]) -> str:
    """A version is committed on top of the one it was made from, where a store can say so."""
    parent = version.parent
    if parent is not None and refs[parent] and parent != len(refs) - 1:
        if hasattr(store, "base_on"):
            store.base_on(refs[parent])
        elif hasattr(store, "branch"):
            branch = f"from-{parent}-{len(refs)}"
            store.branch(branch, refs[parent])
            store.switch(branch)  # type: ignore[attr-defined]
    return store.commit(version.tensors, version.label)


def differences(expected: Mapping[str, Tensor], found: Mapping[str, Tensor]) -> list[str]:
    problems = [f"{name}: was never stored" for name in found.keys() - expected.keys()]
    for name, tensor in expected.items():
        if name not in found:
            problems.append(f"{name}: is missing")
            continue
        problem = difference(tensor, found[name])
        if problem:
            problems.append(f"{name}: {problem}")
    return problems


def difference(expected: Tensor, found: Tensor) -> str | None:
    if found.dtype != expected.dtype:
        return f"dtype {found.dtype.name} instead of {expected.dtype.name}"
    if found.shape != expected.shape:
        return f"shape {found.shape} instead of {expected.shape}"
    unequal = int(np.count_nonzero(bits_of(expected) != bits_of(found)))
    return f"{unequal} of {expected.size} values differ" if unequal else None
