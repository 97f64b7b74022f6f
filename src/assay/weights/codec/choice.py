"""Which method is smallest for a tensor, judged on a sample of it."""

from __future__ import annotations

import math

import numpy as np

from assay.weights.codec.sample_cost import plane_cost, symbol_cost
from assay.weights.codec.stream_writer import symbols_of
from assay.weights.codec.tokens import noise_bits
from assay.weights.codec.window import window_of
from assay.weights.codec_methods import Method
from assay.weights.dtype import ElementType
from assay.weights.limit import zigzag_difference
from assay.weights.store import Tensor

FEW = 0.02
"""The share of changed elements up to which it pays to store their places."""
_MARGIN = 0.995
"""A method that reads slower must be at least this much smaller."""


def alone_cost(bits: Tensor, kind: ElementType) -> tuple[Method, float]:
    """Bits an element without a base; `bits` is a sample."""
    rotated = _rotated(bits, kind)
    planes = rotated.view(np.uint8).reshape(rotated.size, -1)
    cost = sum(min(8.0, plane_cost(np.ascontiguousarray(planes[:, n]))) for n in range(planes.shape[1]))
    if bits.size and cost > 0.1:
        packed = _zstd_cost(bits)
        if packed < _MARGIN * cost:
            return Method.ZSTD, packed
    return Method.PLANES, cost


def cost_given(bits: Tensor, base: Tensor, kind: ElementType, quick: bool = False) -> tuple[Method, float]:
    """Bits an element with this base; both are the same sample of their tensors. Quick: only the difference."""
    changed = changed_share(bits, base)
    if not changed:
        return dense_method(kind), 0.0
    if changed <= FEW:
        # Nearly what their entropy says, and reading costs by the change instead of by the element.
        return Method.SPARSE, -changed * math.log2(changed) + changed * (1.5 + kind.bits)
    options: list[tuple[float, Method]] = []
    if kind.bits <= 32:
        window = window_of(base, kind)
        raw_bits = noise_bits(kind.bits)
        for method in (Method.DIFFERENCE,) if quick else (Method.DIFFERENCE, Method.XOR):
            symbols, residual = symbols_of(bits, base, kind, window, method is Method.XOR)
            options.append((symbol_cost(symbols, raw_bits, window.contexts), method))
            if _low_byte_is_structured(residual):
                planes = Method.XOR_PLANES if method is Method.XOR else Method.DIFFERENCE_PLANES
                options.append((_planes_cost(residual), planes))
    else:
        difference = zigzag_difference(bits, base, kind.exponent > 0)
        options.append((_planes_cost(difference), Method.DIFFERENCE_PLANES))
        options.append((_planes_cost(bits ^ base), Method.XOR_PLANES))
    cost, method = min(options)
    return method, cost


def changed_share(bits: Tensor, base: Tensor) -> float:
    return float(np.count_nonzero(bits != base)) / max(1, bits.size)


def dense_method(kind: ElementType) -> Method:
    return Method.DIFFERENCE if kind.bits <= 32 else Method.DIFFERENCE_PLANES


def _planes_cost(values: Tensor) -> float:
    planes = values.view(np.uint8).reshape(values.size, -1)
    return float(sum(plane_cost(np.ascontiguousarray(planes[:, n])) for n in range(planes.shape[1])))


def _low_byte_is_structured(residual: Tensor) -> bool:
    """Values that were widened (bfloat16 kept as float32) leave low bytes that are not noise."""
    if residual.dtype.itemsize < 4:
        return False
    low = np.ascontiguousarray(residual.view(np.uint8).reshape(residual.size, -1)[:, 0])
    return bool(plane_cost(low) < 7.0)


def _rotated(bits: Tensor, kind: ElementType) -> Tensor:
    if not kind.exponent:
        return bits
    rotated: Tensor = (bits << bits.dtype.type(1)) | (bits >> bits.dtype.type(kind.bits - 1))
    return rotated


def _zstd_cost(bits: Tensor) -> float:
    from zstandard import ZstdCompressor

    return 8 * len(ZstdCompressor(level=1).compress(bits.view(np.uint8).data)) / bits.size
