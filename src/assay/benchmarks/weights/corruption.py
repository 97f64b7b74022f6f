from __future__ import annotations

import json
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.benchmarks.weights.budget import Budget
from assay.benchmarks.weights.chain import bytes_on_disk
from assay.benchmarks.weights.fresh_process import start_probe
from assay.benchmarks.weights.settings import Settings
from assay.benchmarks.weights.store_kind import close, store_kind
from assay.benchmarks.weights.tensor_digest import tensor_digest
from assay.weights.store import Tensor


@dataclass(frozen=True)
class CorruptionResult:
    flips: int
    detected: int
    crashed: int
    """The reader's process died: noticed, but not by an error a caller can catch."""
    harmless: int
    silent: int

    @property
    def detection_rate(self) -> float:
        """Of the flips that mattered, those that were not silent."""
        mattered = self.flips - self.harmless
        return 100 * (1 - self.silent / mattered) if mattered else 100.0


def flip_bytes(store: str, folder: Path, flips: int, budget: Budget, settings: Settings, seed: int) -> CorruptionResult:
    """Bytes spread over all files of a small store, flipped one at a time, in a process that may die of it."""
    versions = _fill(store, folder / "store", settings, seed)
    size = bytes_on_disk(folder / "store")
    rng = np.random.default_rng(seed)
    positions = [int(p) for p in np.sort(rng.choice(size, min(flips, size), replace=False))]
    rng.shuffle(positions)
    verdicts: Counter[str] = Counter()
    while positions and (budget.left > 0 or not verdicts):
        question: dict[str, object] = {
            "store": store,
            "path": str(folder / "store"),
            "scratch": str(folder / "copy"),
            "versions": versions,
            "positions": positions,
        }
        done, verdict_counts = _run(question, budget, settings)
        verdicts += verdict_counts
        positions = positions[done:]
    counted = {name: verdicts[name] for name in ("detected", "crashed", "harmless", "silent")}
    return CorruptionResult(sum(counted.values()), **counted)


def _run(question: dict[str, object], budget: Budget, settings: Settings) -> tuple[int, Counter[str]]:
    """Positions gone through until the end, the end of the budget, or the probe's death."""
    verdicts: Counter[str] = Counter()
    process = start_probe("flipped_bytes", settings)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(question))
    process.stdin.close()
    unfinished = False
    try:
        for line in process.stdout:
            answer = json.loads(line)
            unfinished = answer["verdict"] == "began"
            if unfinished and budget.left <= 0 and verdicts:
                process.kill()
                return sum(verdicts.values()), verdicts
            if not unfinished:
                verdicts[answer["verdict"]] += 1
    finally:
        process.stdout.close()
        process.wait()
    if unfinished:
        verdicts["crashed"] += 1
    elif not verdicts:
        raise subprocess.SubprocessError(f"the probe ended with code {process.returncode} before its first answer")
    return sum(verdicts.values()), verdicts


def _fill(store: str, folder: Path, settings: Settings, seed: int) -> list[tuple[str, dict[str, str]]]:
    rng = np.random.default_rng(seed)
    base: dict[str, Tensor] = {f"w{i}": rng.standard_normal(300, dtype=np.float32) for i in range(3)}
    models = [base, {name: tensor + np.float32(1e-3) for name, tensor in base.items()}]
    opened = store_kind(store, settings).open(folder)
    try:
        refs = [opened.commit(model) for model in models]
        return [(ref, {name: tensor_digest(tensor) for name, tensor in opened.load(ref).items()}) for ref in refs]
    finally:
        close(opened)
