"""One of several users of a store: checks versions out until its time is up, and says how many it got, and how fast."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from assay.benchmarks.weights.orchestration.settings import Settings
from assay.benchmarks.weights.orchestration.store_kind import close, store_kind
from assay.benchmarks.weights.scenarios.tensor_digest import tensor_digest


def main() -> None:
    question = json.loads(sys.stdin.readline())
    store = store_kind(question["store"], Settings.from_environment()).open(Path(question["path"]))
    versions: list[tuple[str, dict[str, str]]] = question["versions"]
    store.load(versions[0][0])
    # All readers begin when the last of them is ready.
    print(json.dumps({"ready": True}), flush=True)
    sys.stdin.readline()
    megabytes, reads, wrong, errors, times = 0.0, 0, 0, 0, []
    end = time.monotonic() + question["seconds"]
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
            wrong += {name: tensor_digest(tensor) for name, tensor in tensors.items()} != expected
        reads += 1
    close(store)
    # Few enough that the line fits a pipe that nobody reads yet.
    kept = times[:: len(times) // 1000 + 1]
    counts = {"reads": reads, "megabytes": megabytes, "wrong": wrong, "errors": errors}
    print(json.dumps({**counts, "seconds": sum(times), "times": kept}))


if __name__ == "__main__":
    main()
