"""Which method is smallest for a tensor, judged on a sample of it."""

from __future__ import annotations

import math

import numpy as np

from assay.weights.codec.codec_methods import Method
from assay.weights.codec.lossy import residuals_of
from assay.weights.codec.planes import WIDTHS
from assay.weights.codec.sample_cost import plane_cost, rough_cost, symbol_cost
from assay.weights.codec.symbols import noise_planes, symbols_of, window_of
from assay.weights.codec.tokens import noise_bits
from assay.weights.element_types import ElementType
from assay.weights.store import Tensor

FEW = 0.02
"""Largest share of changed elements at which it pays to store their places."""
_STRUCTURED = 7.0
"""Bits of entropy below which the lowest byte of residuals is not noise: values that were widened have such bytes."""
_LEADING_WILL_DO = {"small": 0.0, "balanced": 1.12, "fast": 1.12}
"""How many times larger a tensor may be with only its leading bytes coded, which reads three times as fast."""
_MARGIN = 0.995
"""Largest size of a method that reads slower, as a share of the faster one's; any larger, it does not pay."""


def alone_cost(bits: Tensor, kind: ElementType, setting: str) -> tuple[Method, float]:
    """The method that suits a tensor without a base, and its bits per element; `bits` is a sample."""
    rotated = _rotate(bits, kind)
    planes = rotated.view(np.uint8).reshape(rotated.size, -1)
    costs = [min(8.0, plane_cost(np.ascontiguousarray(planes[:, n]))) for n in range(planes.shape[1])]
    method, cost = Method.PLANES, float(sum(costs))
    leading = 8.0 * (len(costs) - 1) + costs[-1]
    if kind.bits in WIDTHS and leading < _LEADING_WILL_DO[setting] * cost:
        method, cost = Method.LEADING, leading
        if setting == "fast":
            return method, cost
    if bits.size and cost > 0.1:
        packed = _zstd_cost(bits)
        if packed < _MARGIN * cost:
            return Method.ZSTD, packed
    return method, cost


def cost_given(bits: Tensor, base: Tensor, kind: ElementType, quick: bool = False) -> tuple[Method, float]:
    """The method that suits a tensor with this base, and its bits per element; both are the same sample of their
    tensors. `quick`: XOR is not tried, and the cost of elements of up to 16 bits is rough."""
    changed = share_of_changed(bits, base)
    if not changed:
        return dense_method(kind), 0.0
    if changed <= FEW:
        # Close to the entropy of the places and values; and reading costs by the change instead of by the element.
        return Method.SPARSE, -changed * math.log2(changed) + changed * (1.5 + kind.bits)
    if quick and kind.bits <= 16:
        return Method.DIFFERENCE, rough_cost(bits, base)
    options: list[tuple[float, Method]] = []
    if kind.bits <= 32:
        window = window_of(base, kind)
        raw_bits = noise_bits(kind.bits)
        for method in (Method.DIFFERENCE,) if quick else (Method.DIFFERENCE, Method.XOR):
            xor = method is Method.XOR
            planes = noise_planes(bits, base, kind, xor)
            low = np.empty(planes * bits.size, np.uint8)
            symbols, above = symbols_of(bits, base, kind, window, xor, low)
            options.append((8 * planes + symbol_cost(symbols, raw_bits, window.contexts), method))
            lowest = low[: bits.size] if planes else above.astype(np.uint8)
            if kind.bits == 32 and plane_cost(lowest) < _STRUCTURED:
                by_planes = Method.XOR_PLANES if xor else Method.DIFFERENCE_PLANES
                options.append((_planes_cost(residuals_of(bits, base, xor)), by_planes))
    else:
        options.append((_planes_cost(residuals_of(bits, base, False)), Method.DIFFERENCE_PLANES))
        options.append((_planes_cost(residuals_of(bits, base, True)), Method.XOR_PLANES))
    cost, method = min(options)
    return method, cost


def share_of_changed(bits: Tensor, base: Tensor) -> float:
    return float(np.count_nonzero(bits != base)) / max(1, bits.size)


def dense_method(kind: ElementType) -> Method:
    return Method.DIFFERENCE if kind.bits <= 32 else Method.DIFFERENCE_PLANES


def _planes_cost(values: Tensor) -> float:
    planes = values.view(np.uint8).reshape(values.size, -1)
    return float(sum(plane_cost(np.ascontiguousarray(planes[:, n])) for n in range(planes.shape[1])))


def _rotate(bits: Tensor, kind: ElementType) -> Tensor:
    if not kind.exponent:
        return bits
    rotated: Tensor = (bits << bits.dtype.type(1)) | (bits >> bits.dtype.type(kind.bits - 1))
    return rotated


def _zstd_cost(bits: Tensor) -> float:
    from zstandard import ZstdCompressor

    return 8 * len(ZstdCompressor(level=1).compress(bits.view(np.uint8).data)) / bits.size
