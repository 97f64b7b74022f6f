"""One of several users of a store: checks versions out until its time is up, and says how many it got, and how fast."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from assay.benchmarks.weights.orchestration.settings import SuiteSettings
from assay.benchmarks.weights.orchestration.store_kind import store_kind
from assay.benchmarks.weights.scenarios.tensor_digest import model_digests
from assay.weights.store import WeightStore


def main() -> None:
    question = json.loads(sys.stdin.readline())
    with store_kind(question["store"], SuiteSettings.from_environment()).use(Path(question["path"])) as store:
        answer = _read(store, question["versions"], question["seconds"])
    print(json.dumps(answer))


def _read(store: WeightStore, versions: list[tuple[str, dict[str, str]]], seconds: float) -> dict[str, Any]:
    store.load(versions[0][0])
    # All readers begin when the last of them is ready.
    print(json.dumps({"ready": True}), flush=True)
    sys.stdin.readline()
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
    return {**counts, "seconds": sum(times), "times": kept}


if __name__ == "__main__":
    main()
