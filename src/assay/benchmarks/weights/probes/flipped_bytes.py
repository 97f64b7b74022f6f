"""Flips one byte of a store's files at a time and says whether reading notices.

Each position is answered as it is done, so that the caller knows where a reader that crashed stood.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.benchmarks.weights.orchestration.settings import SuiteSettings
from assay.benchmarks.weights.orchestration.store_kind import StoreKind, store_kind
from assay.benchmarks.weights.scenarios.tensor_digest import model_digests


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
