"""What a difference is coded as: a symbol an element, which is its context and its token, and its low bytes apart."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numba as nb
import numpy as np
from numba import njit, types

from assay.weights.codec.encode_lanes import symbol_lanes
from assay.weights.codec.tokens import context_of, residual_of, token_of
from assay.weights.element_types import ElementType
from assay.weights.store import Tensor

# Memory that coding needs for a moment, kept from chunk to chunk: touching fresh pages would cost more than coding.


class _Scratch(threading.local):
    def __init__(self) -> None:
        self.held: dict[tuple[str, Any], Tensor] = {}


_scratch = _Scratch()


def scratch(purpose: str, count: int, dtype: type[np.generic] | np.dtype[np.generic]) -> Tensor:
    """One piece a purpose, kind and thread. What was in it before is still there."""
    held = _scratch.held.get((purpose, dtype))
    if held is None or held.size < count:
        held = _scratch.held[purpose, dtype] = np.empty(count, dtype)
    return held[:count]


MOST_CONTEXTS = 16
RUNS, RUN = 32, 128
"""Places in a large chunk that are sampled, and elements at each: every place costs a wait for memory."""
_RARE = 1 / 1024
_WINDOWED = [types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32)]


@dataclass(frozen=True)
class Window:
    """The exponents that have a context of their own."""

    below: int
    """The highest exponent below the window; it and all lower ones share context 0."""
    contexts: int


def window_of(base: Tensor, kind: ElementType) -> Window:
    """The highest exponents that are not rare, at most 15 of them, from a sample."""
    if not kind.exponent:
        return Window(0, 1)
    lowest, highest = _common(base, kind.mantissa, (1 << kind.exponent) - 1)
    if not highest:
        return Window(0, 1)
    lowest = max(lowest, highest - (MOST_CONTEXTS - 2), 1)
    return Window(lowest - 1, highest - lowest + 2)


@njit([types.UniTuple(types.int64, 2)(read, types.int64, types.int64) for read in _WINDOWED], nogil=True, cache=True)
def _common(base, mantissa, mask):  # type: ignore[no-untyped-def]
    """The lowest and the highest exponent that is not rare; 0 does not count."""
    counts = np.zeros(256, np.int64)
    size = base.shape[0]
    runs = RUNS if size > RUNS * RUN else 1
    length, taken = RUN if runs > 1 else size, 0
    for run in range(runs):
        start = (size - length) * run // max(1, runs - 1)
        for i in range(start, start + length):
            counts[(nb.uint32(base[i]) >> nb.uint32(mantissa)) & nb.uint32(mask)] += 1
            taken += 1
    lowest, highest = 0, 0
    for exponent in range(1, 256):
        if counts[exponent] > _RARE * taken:
            highest = exponent
            lowest = lowest or exponent
    return lowest, highest


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
