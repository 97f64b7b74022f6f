from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.benchmarks.weights.orchestration.settings import SuiteSettings
from assay.benchmarks.weights.orchestration.store_kind import store_kind
from assay.benchmarks.weights.probes.fresh_process import ask_fresh_process
from assay.benchmarks.weights.scenarios.accuracy_case import AccuracyCase
from assay.benchmarks.weights.scenarios.chain import differences
from assay.benchmarks.weights.scenarios.tensor_digest import model_digests
from assay.weights.dtype import ELEMENT_TYPES, bits_of
from assay.weights.limit import order_bits
from assay.weights.store import Tensor


@dataclass(frozen=True)
class CaseVerdict:
    """`wrong` came back without an error but not as it was stored; `refused` was answered with an error."""

    case: str
    path: Path
    refs: tuple[str, ...]
    wrong: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    values: int = 0
    inexact_values: int = 0
    largest_error: float = 0.0
    largest_ulp: float = 0.0

    @property
    def exact(self) -> bool:
        return not self.wrong and not self.refused


def judge(store: str, case: AccuracyCase, path: Path, settings: SuiteSettings) -> CaseVerdict:
    refs: list[str] = []
    wrong: list[str] = []
    refused: list[str] = []
    values = inexact = 0
    absolute = ulp = 0.0
    with store_kind(store, settings).use(path) as opened:
        for number, version in enumerate(case.versions):
            try:
                refs.append(opened.commit(version, f"version {number}"))
            except Exception as error:  # noqa: BLE001  whatever another store raises is its refusal
                refused.append(f"version {number}: {error}")
                refs.append("")
        for number, (ref, version) in enumerate(zip(refs, case.versions, strict=True)):
            found: Mapping[str, Tensor] | None = None
            try:
                found = opened.load(ref) if ref else None
            except Exception as error:  # noqa: BLE001
                refused.append(f"version {number}: {error}")
            if found is not None:
                wrong += [f"version {number}, {problem}" for problem in differences(version, found)]
            for name, tensor in version.items():
                count, error_abs, error_ulp = _errors(tensor, (found or {}).get(name))
                values, inexact = values + tensor.size, inexact + count
                absolute, ulp = max(absolute, error_abs), max(ulp, error_ulp)
    return CaseVerdict(case.name, path, tuple(refs), tuple(wrong), tuple(refused), values, inexact, absolute, ulp)


def judge_in_second_process(
    store: str, cases: Sequence[tuple[AccuracyCase, CaseVerdict]], settings: SuiteSettings
) -> list[tuple[str, str]]:
    """(case, problem) for what a new process finds differently from what was committed."""
    asked = [{"path": str(verdict.path), "refs": [ref for ref in verdict.refs if ref]} for _, verdict in cases]
    answers = ask_fresh_process("second_process", {"store": store, "cases": asked}, settings)
    problems = []
    for (case, verdict), found in zip(cases, answers, strict=True):
        kept = [version for ref, version in zip(verdict.refs, case.versions, strict=True) if ref]
        for number, (version, answer) in enumerate(zip(kept, found, strict=True)):
            if answer != model_digests(version):
                what = answer if isinstance(answer, str) else "another value than was committed"
                problems.append((case.name, f"second process, version {number}: {what}"))
    return problems


def judge_merge(store: str, path: Path, settings: SuiteSettings) -> list[CaseVerdict]:
    """Two branches change different tensors and are merged; stores that cannot merge have no such case."""
    opened: Any
    with store_kind(store, settings).use(path) as opened:
        if not hasattr(opened, "merge"):
            return []
        rng = np.random.default_rng(0)
        base = {name: rng.standard_normal(2000, dtype=np.float32) for name in ("a", "b", "c")}
        opened.commit(base, "base")
        home = opened.head
        opened.branch("other")
        ours = {**base, "a": base["a"] + np.float32(1e-3)}
        opened.commit(ours, "ours")
        opened.switch("other")
        theirs = {**base, "b": base["b"] * np.float32(1.01), "d": base["a"][:10].copy()}
        opened.commit(theirs, "theirs")
        opened.switch(home)
        merged = opened.merge("other")
        expected = {**ours, "b": theirs["b"], "d": theirs["d"]}
        wrong = differences(expected, opened.load(merged if isinstance(merged, str) else home))
        size = sum(tensor.size for tensor in expected.values())
        return [CaseVerdict("merge", path, (), tuple(wrong), (), size, size if wrong else 0)]


def _errors(expected: Tensor, found: Tensor | None) -> tuple[int, float, float]:
    """Values that are not the same to the bit, and by how much the numbers among them are off."""
    if found is None or found.dtype != expected.dtype or found.shape != expected.shape:
        return expected.size, 0.0, 0.0
    ours, theirs = bits_of(expected), bits_of(found)
    unequal = ours != theirs
    count = int(np.count_nonzero(unequal))
    kind = ELEMENT_TYPES[expected.dtype.name]
    if not count or not kind.exponent or kind.lanes > 1:
        return count, 0.0, 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        left = expected.reshape(-1)[unequal].astype(np.float64)
        right = np.ascontiguousarray(found).reshape(-1)[unequal].astype(np.float64)
    numbers = np.isfinite(left) & np.isfinite(right)
    if not numbers.any():
        return count, 0.0, 0.0
    apart = order_bits(ours[unequal]).astype(np.float64) - order_bits(theirs[unequal]).astype(np.float64)
    apart_abs = np.abs(left[numbers] - right[numbers])
    return count, float(apart_abs.max()), float(np.abs(apart[numbers]).max())
