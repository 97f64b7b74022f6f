from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.benchmarks.weights.orchestration.settings import Settings
from assay.benchmarks.weights.orchestration.store_kind import close, store_kind
from assay.benchmarks.weights.probes.fresh_process import start_probe
from assay.benchmarks.weights.scenarios.tensor_digest import tensor_digest
from assay.errors import DataError
from assay.weights.store import Tensor


@dataclass(frozen=True)
class ConcurrencyResult:
    users: int
    megabytes_per_s: float
    latency_p50_s: float
    latency_p95_s: float
    commits: int
    """Made by a writer beside the readers."""
    wrong: int
    errors: int


def read_concurrently(
    store: str, folder: Path, users: int, seconds: float, parameters: int, settings: Settings
) -> ConcurrencyResult:
    """Readers in processes of their own, and one writer here, on one store at the same time."""
    rng = np.random.default_rng(users)
    model: dict[str, Tensor] = {f"w{i}": rng.standard_normal(parameters // 8, dtype=np.float32) for i in range(8)}
    opened = store_kind(store, settings).open(folder)
    readers: list[subprocess.Popen[str]] = []
    try:
        versions = [
            (opened.commit(version), {name: tensor_digest(tensor) for name, tensor in version.items()})
            for version in (model, {name: tensor + np.float32(1e-3) for name, tensor in model.items()})
        ]
        for _ in range(users):
            readers.append(start_probe("concurrent_reader", settings))
        question = {"store": store, "path": str(folder), "versions": versions, "seconds": seconds}
        for reader in readers:
            _tell(reader, json.dumps(question))
        for reader in readers:
            _hear(reader)
        for reader in readers:
            _tell(reader, "go")
        commits = 0
        while any(reader.poll() is None for reader in readers):
            moved = {name: tensor + np.float32(commits + 1) for name, tensor in model.items()}
            opened.commit(moved)
            commits += 1
        answers = [_hear(reader) for reader in readers]
    finally:
        for reader in readers:
            _end(reader)
        close(opened)
    times = [one for answer in answers for one in answer["times"]]
    if not times:
        raise DataError(f"{store}: none of {users} concurrent readers could read")
    rate = sum(answer["megabytes"] / max(answer["seconds"], 1e-9) for answer in answers)
    p50, p95 = (float(np.percentile(times, share)) for share in (50, 95))
    wrong, errors = (sum(answer[what] for answer in answers) for what in ("wrong", "errors"))
    return ConcurrencyResult(users, rate, p50, p95, commits, wrong, errors)


def _tell(reader: subprocess.Popen[str], line: str) -> None:
    assert reader.stdin is not None
    reader.stdin.write(line + "\n")
    reader.stdin.flush()


def _hear(reader: subprocess.Popen[str]) -> dict[str, Any]:
    assert reader.stdout is not None
    line = reader.stdout.readline()
    if not line:
        raise DataError(f"a concurrent reader ended with code {reader.wait()} before it answered")
    answer: dict[str, Any] = json.loads(line)
    return answer


def _end(reader: subprocess.Popen[str]) -> None:
    """One that has answered has ended; one that has not, because something went wrong, is not waited for."""
    if reader.poll() is None:
        reader.kill()
    reader.wait()
    for pipe in (reader.stdin, reader.stdout):
        if pipe is not None:
            pipe.close()
