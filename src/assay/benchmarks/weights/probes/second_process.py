"""Opens stores that another process wrote, and says what it finds there: dtype, shape and digest of every tensor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.benchmarks.weights.orchestration.settings import SuiteSettings
from assay.benchmarks.weights.orchestration.store_kind import StoreKind, store_kind
from assay.benchmarks.weights.scenarios.tensor_digest import model_digests


def answer(question: dict[str, Any], settings: SuiteSettings) -> Iterator[Any]:
    kind = store_kind(question["store"], settings)
    yield [_read(kind, Path(case["path"]), case["refs"]) for case in question["cases"]]


def _read(kind: StoreKind, path: Path, refs: list[str]) -> list[dict[str, str] | str]:
    found: list[dict[str, str] | str] = []
    with kind.use(path) as store:
        for ref in refs:
            try:
                found.append(model_digests(store.load(ref)))
            except Exception as error:  # noqa: BLE001  any store may be asked; its error is the answer
                found.append(f"{type(error).__name__}: {error}")
    return found
