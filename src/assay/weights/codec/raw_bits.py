"""The bits below the tokens, packed end to end into 32-bit words, and the way back from tokens to bit patterns.

Sixteen-bit residuals mostly have none, which a look at eight tokens at once finds out.
"""

from __future__ import annotations

import numba as nb
import numpy as np
from numba import njit, types

from assay.weights.codec.raw_lanes import residual_lanes

_u32, _u64 = nb.uint32, nb.uint64
_ARRAYS = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=False) for bits in (8, 16, 32)}
_READ = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32, 64)}
_HIGH_8 = 0x8080808080808080
_HIGH_16 = 0x0080008000800080
"""The top bit of every token in a 64-bit word of tokens, and of symbols."""


@njit(inline="always")
def _append(words, place, held, count, residual, bits):  # type: ignore[no-untyped-def]
    held |= (_u64(residual) & ((_u64(1) << bits) - _u64(1))) << count
    count += bits
    words[place] = _u32(held)
    full = count >= _u64(32)
    held = held >> _u64(32) if full else held
    count = count - _u64(32) if full else count
    return place + _u64(full), held, count


@njit(
    [types.int64(_READ[b], _READ[16], _READ[8], types.int64, _ARRAYS[32]) for b in (8, 16, 32)], nogil=True, cache=True
)
def write_raw_bits(residual, symbol, raw_bits, direct, words):  # type: ignore[no-untyped-def]
    """The number of words written; `words` must have room for one a residual and two more."""
    held, count, place = _u64(0), _u64(0), _u64(0)
    size = residual.shape[0]
    done = 0
    if direct == 7:
        # Only tokens of 128 and above have raw bits: four are ruled out by one look.
        quads = symbol[: size & ~3].view(np.uint64)
        for quad in range(quads.shape[0]):
            if quads[quad] & _u64(_HIGH_16):
                for i in range(4 * quad, 4 * quad + 4):
                    bits = _u64(raw_bits[symbol[i] & 0xFF])
                    place, held, count = _append(words, place, held, count, residual[i], bits)
        done = size & ~3
    for i in range(done, size):
        bits = _u64(raw_bits[symbol[i] & 0xFF])
        place, held, count = _append(words, place, held, count, residual[i], bits)
    words[place] = _u32(held)
    return place + _u64(count > _u64(0))


@njit(inline="always")
def _residual(words, last, place, meant):  # type: ignore[no-untyped-def]
    # A damaged token could ask for bits beyond the end: it gets the last ones, and the caller refuses all.
    index = min(place >> _u64(5), last)
    window = (_u64(words[index]) | (_u64(words[index + _u64(1)]) << _u64(32))) >> (place & _u64(31))
    return _u32(meant & _u64(0xFFFFFFFF)) + _u32(window & ((_u64(1) << (meant >> _u64(32))) - _u64(1)))


@njit(
    [types.int64(_READ[8], _READ[32], _READ[64], types.int64, _ARRAYS[b]) for b in (8, 16, 32)], nogil=True, cache=True
)
def read_residuals(token, words, meaning, direct, out):  # type: ignore[no-untyped-def]
    """Residuals from tokens and raw bits (`words` ends in two words of nothing); how many raw bits they took.

    `meaning` of a token: its lowest residual, and above bit 32 how many raw bits follow.
    """
    last, place = _u64(words.shape[0] - 2), _u64(0)
    size = out.shape[0]
    done = 0
    if direct == 7:
        for i in range(size):
            out[i] = token[i]
        eights = token[: size & ~7].view(np.uint64)
        for eight in range(eights.shape[0]):
            if eights[eight] & _u64(_HIGH_8):
                for i in range(8 * eight, 8 * eight + 8):
                    meant = meaning[token[i]]
                    out[i] = _residual(words, last, place, meant)
                    place += meant >> _u64(32)
        done = size & ~7
    elif direct == 4:
        done = size & ~15
        place = _u64(
            residual_lanes(
                token.ctypes.data, words.ctypes.data, out.ctypes.data, nb.int64(size >> 4), nb.int64(words.shape[0] - 2)
            )
        )
    for i in range(done, size):
        meant = meaning[token[i]]
        out[i] = _residual(words, last, place, meant)
        place += meant >> _u64(32)
    return place


@njit([types.void(_READ[b], types.int64, types.int64, _ARRAYS[b]) for b in (8, 16, 32)], nogil=True, cache=True)
def add_differences(base, width, is_float, out):  # type: ignore[no-untyped-def]
    """Residuals in `out` become bit patterns. Without branches: signs are random, and guessing them wrong is dear."""
    full = _u32((_u64(1) << _u64(width)) - _u64(1))
    sign_at = _u32(width - 1)
    top = _u32(1) << sign_at if is_float else _u32(0)
    inverted = full if is_float else _u32(0)
    for i in range(out.shape[0]):
        b, zigzag = _u32(base[i]), _u32(out[i])
        ordered = b ^ (top | ((_u32(0) - (b >> sign_at)) & inverted))
        ordered = _u32(ordered + ((zigzag >> _u32(1)) ^ (_u32(0) - (zigzag & _u32(1))))) & full
        out[i] = ordered ^ (top | ((_u32(0) - ((ordered >> sign_at) ^ _u32(1))) & inverted))
