"""Flips one byte of a store's files at a time and says whether reading notices.

Each position is answered as it is done, so that the caller knows where a reader that crashed stood.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.benchmarks.weight_probes.fresh_process import Probe
from assay.benchmarks.weight_scenarios.scenario_config import ScenarioBudget
from assay.benchmarks.weight_scenarios.scenario_data import model_digests
from assay.benchmarks.weights.settings import SuiteSettings
from assay.benchmarks.weights.stores import StoreKind, store_kind
from assay.stats.intervals import Interval, share_interval
from assay.weights.repository_disk import bytes_on_disk
from assay.weights.store import Tensor


def answer(question: dict[str, Any], settings: SuiteSettings) -> Iterator[dict[str, str]]:
    kind = store_kind(question["store"], settings)
    for position in question["positions"]:
        yield {"verdict": "began"}
        yield {"verdict": _verdict(kind, question, position)}


def _verdict(kind: StoreKind, question: dict[str, Any], position: int) -> str:
    """detected: an error. harmless: all tensors right. silent: a wrong tensor and no error."""
    copy = Path(question["scratch"])
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(question["path"], copy)
    _flip(copy, position)
    try:
        with kind.use(copy) as store:
            verify = getattr(store, "verify", None)
            if verify is not None and not _clean(verify()):
                return "detected"
            for ref, expected in question["versions"]:
                if model_digests(store.load(ref)) != expected:
                    return "silent"
    except Exception:  # noqa: BLE001  any error at all is a detection; how it reads is another test's matter
        return "detected"
    return "harmless"


def _clean(answer: object) -> bool:
    """`verify` either raises or returns the problems it found."""
    problems = getattr(answer, "problems", answer)
    return problems is None or problems is True or not problems


def _flip(folder: Path, position: int) -> None:
    for file, start, end in extents(folder):
        if start <= position < end:
            with file.open("r+b") as opened:
                opened.seek(position - start)
                old = opened.read(1)[0]
                opened.seek(position - start)
                opened.write(bytes([old ^ 0x55]))
            return


def extents(folder: Path) -> Iterator[tuple[Path, int, int]]:
    """All files as one line of bytes, in the order of their paths."""
    start = 0
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        end = start + file.stat().st_size
        yield file, start, end
        start = end


FEWEST = 30
"""Flips that changed what is read, below which no rate is given: one that was found is no 100%."""
MORE_S = 10.0
"""Seconds beyond the budget that may be spent to come to the fewest flips that a rate is given from."""


@dataclass(frozen=True)
class CorruptionResult:
    flips: int
    detected: int
    crashed: int
    """The reader's process died: noticed, but not by an error a caller can catch."""
    harmless: int
    silent: int

    @property
    def mattered(self) -> int:
        """Flips that changed what is read, or would have."""
        return self.flips - self.harmless

    @property
    def detection_rate(self) -> Interval | None:
        """Share of flips that were not silent among those that mattered. None where they are too few to say."""
        return share_interval(self.mattered - self.silent, self.mattered) if self.mattered >= FEWEST else None


def flip_bytes(
    store: str, folder: Path, flips: int, budget: ScenarioBudget, settings: SuiteSettings, seed: int
) -> CorruptionResult:
    """Bytes spread over all files of a small store, flipped one at a time, in a process that may die of it."""
    versions = _fill(store, folder / "store", settings, seed)
    size = bytes_on_disk(folder / "store")
    rng = np.random.default_rng(seed)
    positions = [int(p) for p in np.sort(rng.choice(size, min(flips, size), replace=False))]
    rng.shuffle(positions)
    verdicts: Counter[str] = Counter()
    while positions and not _enough(verdicts, budget):
        question: dict[str, object] = {
            "store": store,
            "path": str(folder / "store"),
            "scratch": str(folder / "copy"),
            "versions": versions,
            "positions": positions,
        }
        before = sum(verdicts.values())
        _run(question, budget, settings, verdicts)
        positions = positions[sum(verdicts.values()) - before :]
    counted = {name: verdicts[name] for name in ("detected", "crashed", "harmless", "silent")}
    return CorruptionResult(sum(counted.values()), **counted)


def _enough(verdicts: Counter[str], budget: ScenarioBudget) -> bool:
    """A probe takes longer to start than for forty flips: a few seconds more make a rate of what would say nothing."""
    if not verdicts or budget.left > 0:
        return False
    return verdicts.total() - verdicts["harmless"] >= FEWEST or budget.left < -MORE_S


def _run(question: dict[str, object], budget: ScenarioBudget, settings: SuiteSettings, verdicts: Counter[str]) -> None:
    """Adds to the verdicts position by position until the end, until there are enough, or until the probe's death."""
    before = verdicts.total()
    unfinished = False
    with Probe("corruption", settings) as probe:
        probe.tell(question)
        for answer in probe.answers():
            unfinished = answer["verdict"] == "began"
            if unfinished and _enough(verdicts, budget):
                return
            if not unfinished:
                verdicts[answer["verdict"]] += 1
        code = probe.wait()
    if unfinished:
        verdicts["crashed"] += 1
    elif verdicts.total() == before:
        raise subprocess.SubprocessError(f"the probe ended with code {code} before its first answer")


def _fill(store: str, folder: Path, settings: SuiteSettings, seed: int) -> list[tuple[str, dict[str, str]]]:
    rng = np.random.default_rng(seed)
    base: dict[str, Tensor] = {f"w{i}": rng.standard_normal(300, dtype=np.float32) for i in range(3)}
    models = [base, {name: tensor + np.float32(1e-3) for name, tensor in base.items()}]
    with store_kind(store, settings).use(folder) as opened:
        refs = [opened.commit(model) for model in models]
        return [(ref, model_digests(opened.load(ref))) for ref in refs]
