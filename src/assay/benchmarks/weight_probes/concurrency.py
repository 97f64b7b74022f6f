from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from assay.benchmarks.weight_probes.fresh_process import Probe
from assay.benchmarks.weight_scenarios.scenario_data import model_digests
from assay.benchmarks.weights.results import ResultLine
from assay.benchmarks.weights.settings import SuiteSettings
from assay.benchmarks.weights.stores import store_kind
from assay.errors import DataError
from assay.weights.store import Tensor, WeightStore


def measure_readers(
    here: ResultLine, store: str, folder: Path, users: int, seconds: float, parameters: int, settings: SuiteSettings
) -> None:
    """Readers in processes of their own, and one writer here, on one store at the same time."""
    rng = np.random.default_rng(users)
    model: dict[str, Tensor] = {f"w{i}": rng.standard_normal(parameters // 8, dtype=np.float32) for i in range(8)}
    with store_kind(store, settings).use(folder) as opened, ExitStack() as started:
        versions = [
            (opened.commit(version), model_digests(version))
            for version in (model, {name: tensor + np.float32(1e-3) for name, tensor in model.items()})
        ]
        readers = [started.enter_context(Probe("concurrency", settings)) for _ in range(users)]
        for reader in readers:
            reader.tell({"store": store, "path": str(folder), "versions": versions, "seconds": seconds})
        for reader in readers:
            reader.hear()
        for reader in readers:
            reader.tell("go")
        commits = 0
        while any(reader.running for reader in readers):
            moved = {name: tensor + np.float32(commits + 1) for name, tensor in model.items()}
            opened.commit(moved)
            commits += 1
        answers = [reader.hear() for reader in readers]
    times = [one for answer in answers for one in answer["times"]]
    if not times:
        raise DataError(f"{store}: none of {users} concurrent readers could read")
    rate = sum(answer["megabytes"] / max(answer["seconds"], 1e-9) for answer in answers)
    here.add("checkout_speed", rate, "MB/s", "higher")
    here.add("latency_p50", float(np.percentile(times, 50)) * 1e3, "ms", "lower")
    here.add("latency_p95", float(np.percentile(times, 95)) * 1e3, "ms", "lower")
    here.add("commits_beside", commits, None, "higher")
    here.add("wrong_reads", sum(answer["wrong"] for answer in answers), None, "lower", exact=True)
    here.add("failed_reads", sum(answer["errors"] for answer in answers), None, "lower", exact=True)
    here.add("size", users, "users")


def answer(question: dict[str, Any], settings: SuiteSettings) -> Iterator[dict[str, Any]]:
    """One of the users: checks versions out until its time is up, and says how many it got, and how fast."""
    with store_kind(question["store"], settings).use(Path(question["path"])) as store:
        yield from _read(store, question["versions"], question["seconds"])


def _read(store: WeightStore, versions: list[tuple[str, dict[str, str]]], seconds: float) -> Iterator[dict[str, Any]]:
    store.load(versions[0][0])
    yield {"ready": True}
    sys.stdin.readline()  # All readers begin when the last of them is ready.
    megabytes, reads, wrong, errors, times = 0.0, 0, 0, 0, []
    end = time.monotonic() + seconds
    while time.monotonic() < end or not reads:
        ref, expected = versions[reads % len(versions)]
        start = time.perf_counter()
        try:
            tensors = store.load(ref)
        except Exception:  # noqa: BLE001  any failure to read under load counts the same
            errors += 1
            reads += 1
            continue
        times.append(time.perf_counter() - start)
        megabytes += sum(tensor.nbytes for tensor in tensors.values()) / 1e6
        if reads < len(versions):
            wrong += model_digests(tensors) != expected
        reads += 1
    # Few enough that the line fits a pipe that nobody reads yet.
    kept = times[:: len(times) // 1000 + 1]
    counts = {"reads": reads, "megabytes": megabytes, "wrong": wrong, "errors": errors}
    yield {**counts, "seconds": sum(times), "times": kept}
