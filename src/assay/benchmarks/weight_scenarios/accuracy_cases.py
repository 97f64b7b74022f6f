"""The versions that stores get wrong: every dtype, every 16-bit pattern, special values, and histories that have led
stores to return another version's tensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.benchmarks.weight_probes.fresh_process import ask_fresh_process
from assay.benchmarks.weight_scenarios.scenario_data import model_digests
from assay.benchmarks.weight_scenarios.version_chain import differences
from assay.benchmarks.weights.settings import SuiteSettings
from assay.benchmarks.weights.stores import store_kind
from assay.weights.element_types import ELEMENT_TYPES, bits_of
from assay.weights.entropy_limit import order_bits
from assay.weights.store import Tensor


@dataclass(frozen=True)
class AccuracyCase:
    """Versions committed one after another; each must come back bit for bit, here and in a second process."""

    name: str
    versions: tuple[Mapping[str, Tensor], ...]


def bit_perfect(rng: np.random.Generator) -> Iterator[AccuracyCase]:
    for name, kind in ELEMENT_TYPES.items():
        first = _any_bits(rng, name, (40, 30))
        second = first.copy()
        second.reshape(-1)[::7] = _any_bits(rng, name, (172,))[: second.reshape(-1)[::7].size]
        yield AccuracyCase(name, ({"w": first}, {"w": second}))
        if kind.bits <= 16 and kind.lanes == 1 and name != "bool":
            patterns = np.arange(1 << kind.bits, dtype=f"u{kind.bits // 8}").view(kind.numpy)
            shifted = np.roll(patterns, 1)
            yield AccuracyCase(f"all patterns of {name}", ({"w": patterns}, {"w": shifted}))


def numerical_stability(rng: np.random.Generator) -> Iterator[AccuracyCase]:
    for dtype in ("float32", "float64", "float16", "bfloat16"):
        kind = ELEMENT_TYPES[dtype].numpy
        base = (rng.standard_normal(4000) * 0.02).astype(kind)
        # Steps far below, around and far above the spacing of the numbers: where float differences round.
        for label, step in (("tiny", 1e-7), ("small", 1e-3), ("large", 1e3)):
            child = (base.astype(np.float64) * (1 + step * rng.standard_normal(base.size))).astype(kind)
            yield AccuracyCase(f"{dtype}, {label} steps", ({"w": base}, {"w": child}))
        drift = [base]
        for _ in range(6):
            drift.append((drift[-1].astype(np.float64) * 1.001).astype(kind))
        yield AccuracyCase(f"{dtype}, seven versions", tuple({"w": w} for w in drift))


def edge_cases(rng: np.random.Generator) -> Iterator[AccuracyCase]:
    for dtype in ("float32", "float64", "float16", "bfloat16"):
        for label, special in _specials(dtype).items():
            base = (rng.standard_normal(600) * 0.02).astype(ELEMENT_TYPES[dtype].numpy)
            child = base.copy()
            child[: special.size * 4] = np.tile(special, 4)
            yield AccuracyCase(f"{label}, {dtype}", ({"w": base}, {"w": child}, {"w": base}))
    first = rng.standard_normal(4096).astype(np.float32)
    near, far = first + np.float32(1e-3), rng.standard_normal(4096).astype(np.float32)
    yield _case("value restored under its name", {"w": first}, {"w": near}, {"w": first})
    yield _case("similar, then unrelated", {"w": first}, {"w": near}, {"w": far})
    yield _case("name re-used, other shape", {"w": first}, {"w": near.reshape(64, 64)}, {"w": first[:100]})
    yield _case("name re-used, other dtype", {"w": first}, {"w": near.astype(np.float16)}, {"w": first.view(np.int32)})
    yield _case("swapped names", {"a": first, "b": far}, {"a": far, "b": first})
    for size in (1, 3, 16, 100, 127):
        tiny = rng.standard_normal(size).astype(np.float32)
        yield _case(f"{size * 4} bytes, changed", {"w": tiny}, {"w": tiny * np.float32(1.001)}, {"w": tiny})
    yield _case("scalar", {"w": np.array(1.5, np.float32)}, {"w": np.array(-0.0, np.float32)})
    yield _case("empty", {"w": np.empty((0, 7), np.float32)}, {"w": np.empty((3, 0), np.int8)})
    yield _case("not contiguous", {"w": first.reshape(64, 64).T}, {"w": near.reshape(64, 64)[::2, ::-3]})
    yield _case("all zero", {"w": np.zeros(5000, np.float32)}, {"w": np.full(5000, -0.0, np.float32)})
    yield _case("tensor dropped and back", {"a": first, "b": far}, {"a": near}, {"a": near, "b": far})


def _case(name: str, *versions: Mapping[str, Tensor]) -> AccuracyCase:
    return AccuracyCase(name, versions)


def _specials(dtype: str) -> dict[str, Tensor]:
    kind = ELEMENT_TYPES[dtype]
    bits = kind.bit_view.type
    sign, top = bits(1 << (kind.bits - 1)), ((1 << kind.exponent) - 1) << kind.mantissa
    payloads = [top | 1, top | (1 << (kind.mantissa - 1)), top | ((1 << kind.mantissa) - 1)]
    patterns = {
        "NaN payloads": [bits(payload) for payload in payloads] + [sign | bits(payload) for payload in payloads],
        "infinities": [bits(top), sign | bits(top)],
        "negative zero": [sign, bits(0)],
        "denormals": [bits(1), bits((1 << kind.mantissa) - 1), sign | bits(1)],
        "largest and smallest": [bits(top - 1), sign | bits(top - 1), bits(1 << kind.mantissa)],
    }
    return {name: np.array(values, kind.bit_view).view(kind.numpy) for name, values in patterns.items()}


def _any_bits(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Tensor:
    kind = ELEMENT_TYPES[dtype]
    if dtype == "bool":
        return rng.random(shape) < 0.5
    raw = rng.integers(0, 256, int(np.prod(shape)) * kind.itemsize, dtype=np.uint8)
    return raw.view(kind.numpy).reshape(shape)


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
    answers = ask_fresh_process("fresh_process", {"store": store, "cases": asked}, settings)
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
