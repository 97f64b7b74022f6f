"""The bits below the tokens, packed end to end into 32-bit words, and the way back from tokens to bit patterns.

Sixteen-bit residuals mostly have none: runs of 32 tokens without raw bits take a path that the compiler vectorises.
"""

from __future__ import annotations

import numba as nb
from numba import njit, types

_u8, _u32, _u64 = nb.uint8, nb.uint32, nb.uint64
_ARRAYS = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=False) for bits in (8, 16, 32)}
_READ = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32, 64)}
RUN = 32


@njit(
    [types.int64(_READ[b], _READ[16], _READ[8], types.int64, _ARRAYS[32]) for b in (8, 16, 32)], nogil=True, cache=True
)  # type: ignore[untyped-decorator]
def write_raw_bits(residual, symbol, raw_bits, direct, words):  # type: ignore[no-untyped-def]
    """The number of words written; `words` must have room for one a residual and two more."""
    held, count, place = _u64(0), _u64(0), _u64(0)
    limit = _u32(1) << _u32(direct)
    size = residual.shape[0]
    for begin in range(0, size, RUN):
        end = min(begin + RUN, size)
        highest = _u32(0)
        for i in range(begin, end):
            highest = max(highest, _u32(symbol[i]) & _u32(0xFF))
        if highest < limit:
            continue
        for i in range(begin, end):
            bits = _u64(raw_bits[symbol[i] & 0xFF])
            held |= (_u64(residual[i]) & ((_u64(1) << bits) - _u64(1))) << count
            count += bits
            words[place] = _u32(held)
            full = count >= _u64(32)
            place += _u64(full)
            held = held >> _u64(32) if full else held
            count = count - _u64(32) if full else count
    words[place] = _u32(held)
    return place + _u64(count > _u64(0))


@njit(
    [types.int64(_READ[8], _READ[32], _READ[64], types.int64, _ARRAYS[b]) for b in (8, 16, 32)], nogil=True, cache=True
)  # type: ignore[untyped-decorator]
def read_residuals(token, words, meaning, direct, out):  # type: ignore[no-untyped-def]
    """Residuals from tokens and raw bits (`words` ends in two words of nothing); how many raw bits they took.

    `meaning` of a token: its lowest residual, and above bit 32 how many raw bits follow.
    """
    limit, last, place = _u32(1) << _u32(direct), _u64(words.shape[0] - 2), _u64(0)
    size = out.shape[0]
    for begin in range(0, size, RUN):
        end = min(begin + RUN, size)
        highest = _u8(0)
        for i in range(begin, end):
            highest = max(highest, token[i])
            out[i] = token[i]
        if _u32(highest) >= limit:
            for i in range(begin, end):
                meant = meaning[token[i]]
                bits = meant >> _u64(32)
                # A damaged token could ask for bits beyond the end: it gets the last ones, and the caller refuses all.
                index = min(place >> _u64(5), last)
                window = (_u64(words[index]) | (_u64(words[index + _u64(1)]) << _u64(32))) >> (place & _u64(31))
                out[i] = _u32(meant) + _u32(window & ((_u64(1) << bits) - _u64(1)))
                place += bits
    return place


@njit([types.void(_READ[b], types.int64, types.int64, _ARRAYS[b]) for b in (8, 16, 32)], nogil=True, cache=True)  # type: ignore[untyped-decorator]
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
