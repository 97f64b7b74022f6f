"""Opens stores that another process wrote, and says what it finds there: dtype, shape and digest of every tensor."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from assay.benchmarks.weights.orchestration.settings import SuiteSettings
from assay.benchmarks.weights.orchestration.store_kind import StoreKind, store_kind
from assay.benchmarks.weights.scenarios.tensor_digest import model_digests


def main() -> None:
    question = json.load(sys.stdin)
    kind = store_kind(question["store"], SuiteSettings.from_environment())
    print(json.dumps([_read(kind, Path(case["path"]), case["refs"]) for case in question["cases"]]))


def _read(kind: StoreKind, path: Path, refs: list[str]) -> list[dict[str, str] | str]:
    answers: list[dict[str, str] | str] = []
    with kind.use(path) as store:
        for ref in refs:
            try:
                answers.append(model_digests(store.load(ref)))
            except Exception as error:  # noqa: BLE001  any store may be asked; its error is the answer
                answers.append(f"{type(error).__name__}: {error}")
    return answers


if __name__ == "__main__":
    main()
