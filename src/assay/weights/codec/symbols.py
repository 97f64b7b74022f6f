"""What a difference is coded as: a symbol an element, which is its context and its token, and its low bytes apart."""

from __future__ import annotations

import numba as nb
import numpy as np
from numba import njit, types

from assay.weights.codec.lanes.symbol_lanes import symbol_lanes
from assay.weights.codec.streams.scratch import scratch
from assay.weights.codec.streams.window import Window
from assay.weights.codec.tokens import context_of, residual_of, token_of
from assay.weights.dtype import ElementType
from assay.weights.store import Tensor

_GLANCE = 1024
_SMALL = 0.12
"""Largest share of residuals that may lie wholly in the low bytes, which are kept as they are."""
_READ = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32)}
_WRITE = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C") for bits in (8, 16, 32)}


def noise_planes(bits: Tensor, base: Tensor, kind: ElementType, xor: bool) -> int:
    """How many low bytes of the residuals are so small a part of them that coding them would gain nothing."""
    if kind.bits < 32:
        return 0
    return int(_noise_planes(bits, base, int(xor)))


@njit(types.int64(_READ[32], _READ[32], types.int64), nogil=True, cache=True)
def _noise_planes(bits, base, xor):  # type: ignore[no-untyped-def]
    step = max(1, bits.shape[0] // _GLANCE)
    taken, below_8, below_16 = 0, 0, 0
    for i in range(0, bits.shape[0], step):
        residual = residual_of(bits[i], base[i], 32, xor)
        taken += 1
        below_8 += residual < 1 << 8
        below_16 += residual < 1 << 16
    if below_16 <= _SMALL * taken:
        return 2
    return 1 if below_8 <= _SMALL * taken else 0


def symbols_of(
    bits: Tensor, base: Tensor, kind: ElementType, window: Window, xor: bool, low: Tensor
) -> tuple[Tensor, Tensor]:
    """Symbols and residuals, good until this thread codes the next stream. Low bytes go to `low`, as many as it has
    room for; symbols and residuals are those of what is above."""
    symbols, residuals = scratch("symbols", bits.size, np.uint16), scratch("residuals", bits.size, bits.dtype)
    fill_symbols(bits, base, *field_of(kind, window), int(xor), low, residuals, symbols)
    return symbols, residuals


def field_of(kind: ElementType, window: Window) -> tuple[int, int, int, int]:
    """Where the exponent is, its mask, and the bounds of the window: see `tokens.context_of`."""
    return kind.mantissa, (1 << kind.exponent) - 1, window.below, window.contexts - 1


@njit(
    [types.void(_READ[b], _READ[b], *[types.int64] * 5, _WRITE[8], _WRITE[b], _WRITE[16]) for b in (8, 16, 32)],
    nogil=True,
    cache=True,
)
def fill_symbols(bits, base, mantissa, mask, below, last, xor, low, residuals, symbols):  # type: ignore[no-untyped-def]
    width, field = bits.itemsize * 8, (mantissa, mask, below, last)
    to = (residuals.ctypes.data, symbols.ctypes.data, low.ctypes.data)
    size = bits.shape[0]
    planes = low.shape[0] // max(1, size)
    done = symbol_lanes(bits.ctypes.data, base.ctypes.data, *to, size, size, *field, xor, width, planes)
    for i in range(done, size):
        b = nb.uint32(base[i])
        residual = residual_of(nb.uint32(bits[i]), b, width, xor)
        for plane in range(planes):
            low[plane * size + i] = nb.uint8(residual >> nb.uint32(8 * plane))
        residual >>= nb.uint32(8 * planes)
        context = context_of(b, nb.uint32(mantissa), nb.uint32(mask), nb.uint32(below), nb.uint32(last))
        residuals[i] = residual
        symbols[i] = nb.uint16((context << nb.uint32(8)) | token_of(residual, width))
