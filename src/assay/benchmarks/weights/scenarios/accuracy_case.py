"""The versions that stores get wrong: every dtype, every 16-bit pattern, special values, and histories that have led
stores to return another version's tensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from assay.weights.dtype import ELEMENT_TYPES
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
