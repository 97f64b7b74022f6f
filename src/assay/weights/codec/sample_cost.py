"""What coding would cost, from a sample: the entropy of its symbols and the raw bits they would carry."""

from __future__ import annotations

import math

import numba as nb
import numpy as np
from numba import njit, types

from assay.weights.codec.tokens import leading_zeros, residual_of
from assay.weights.store import Tensor

BLOCK, BLOCKS = 1024, 4
_ROUGHLY = 1024
_WHICH_LENGTH = 1.7
_READ = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16)}


def sample_of(values: Tensor) -> Tensor:
    """Four runs of 1024 neighbours spread over the tensor, or all of a small one."""
    if values.size <= BLOCK * BLOCKS:
        return values
    starts = ((values.size - BLOCK) * block // (BLOCKS - 1) for block in range(BLOCKS))
    return np.concatenate([values[start : start + BLOCK] for start in starts])


@njit(types.float64(_READ[16], _READ[8], types.int64), nogil=True, cache=True)
def symbol_cost(symbols, raw_bits, contexts):  # type: ignore[no-untyped-def]
    """Bits an element: the entropy of tokens given their context, and raw bits; tables at a byte an entry."""
    counts = np.zeros((contexts, 256), np.uint32)
    raw = 0
    for symbol in symbols:
        counts[symbol >> 8, symbol & 0xFF] += 1
        raw += raw_bits[symbol & 0xFF]
    bits = float(raw)
    for context in range(contexts):
        total = 0.0
        for count in counts[context]:
            if count:
                total += count
                bits -= count * math.log2(count)
        if total:
            bits += total * math.log2(total)
    return bits / max(1, symbols.shape[0])


@njit([types.float64(_READ[b], _READ[b]) for b in (8, 16)], nogil=True, cache=True)
def rough_cost(bits, base):  # type: ignore[no-untyped-def]
    """Bits per element of the difference, to within about one: the mean length of its residuals, and the bits that say
    which length it is."""
    step, width = max(1, bits.shape[0] // _ROUGHLY), bits.itemsize * 8
    taken, length, changed = 0, 0.0, 0
    for i in range(0, bits.shape[0], step):
        value = residual_of(nb.uint32(bits[i]), nb.uint32(base[i]), width, 0)
        octave = nb.uint32(31) - leading_zeros(nb.uint32(value + nb.uint32(1)))
        taken += 1
        length += octave + nb.float64(value + nb.uint32(1)) / nb.float64(nb.uint32(1) << octave) - 1.0
        changed += value > 0
    return (length + _WHICH_LENGTH * changed) / max(1, taken)


@njit(types.float64(_READ[8]), nogil=True, cache=True)
def plane_cost(plane):  # type: ignore[no-untyped-def]
    """Entropy of a plane in bits per byte, from at most 8192 of its bytes."""
    counts = np.zeros(256, np.uint32)
    size = plane.shape[0]
    taken = min(size, 8192)
    step = max(1, size // 8192)
    for i in range(taken):
        counts[plane[i * step]] += 1
    bits = 0.0
    for count in counts:
        if count:
            bits += count * (math.log2(taken) - math.log2(count))
    return bits / max(1, taken)
