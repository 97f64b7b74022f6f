"""Opens stores that another process wrote, and says what it finds there: dtype, shape and digest of every tensor."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from assay.benchmarks.weights.orchestration.settings import Settings
from assay.benchmarks.weights.orchestration.store_kind import StoreKind, close, store_kind
from assay.benchmarks.weights.scenarios.tensor_digest import tensor_digest


def main() -> None:
    question = json.load(sys.stdin)
    kind = store_kind(question["store"], Settings.from_environment())
    print(json.dumps([_found(kind, Path(case["path"]), case["refs"]) for case in question["cases"]]))


def _found(kind: StoreKind, path: Path, refs: list[str]) -> list[dict[str, str] | str]:
    answers: list[dict[str, str] | str] = []
    store = kind.open(path)
    try:
        for ref in refs:
            try:
                answers.append({name: tensor_digest(tensor) for name, tensor in store.load(ref).items()})
            except Exception as error:  # noqa: BLE001  any store may be asked; its error is the answer
                answers.append(f"{type(error).__name__}: {error}")
    finally:
        close(store)
    return answers


if __name__ == "__main__":
    main()
