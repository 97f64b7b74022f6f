"""Residuals that are stored whole, beside the stream, because their tokens would be too rare for the noise they have.

A small residual takes one word; a larger one takes three: a word that no small one can be, then its two halves. Where
most are large, the stream is "wide": each takes two words. The loops over lanes do not stop for escapes. They decode
one as no change, and note in 64 bits a round which lanes had one; those elements are put right afterwards.
"""

from __future__ import annotations

from typing import Any

import numba as nb
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from assay.weights.codec.frequency_table import ENCODER_ESCAPED_AT
from assay.weights.codec.tokens import residual_of

_LARGER = 0xFFFF
MOST_WORDS = 3
"""Most words that one escape takes."""
_u32, _u64, _i64 = nb.uint32, nb.uint64, nb.int64


@intrinsic
def _lowest_bit(typing, value):  # type: ignore[no-untyped-def]
    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), code


@njit(inline="always")
def _element(bit, itemsize):  # type: ignore[no-untyped-def]
    """Which of a round's 64 elements a bit of the notes stands for. A vector notes sixteen bits; 32 elements of 16 bits
    are two vectors, the even ones and then the odd ones."""
    if itemsize == 4:
        return bit
    return (bit & 32) + 2 * (bit & 15) + ((bit >> 4) & 1)


@njit(inline="always")
def _put(residual, apart, count, wide):  # type: ignore[no-untyped-def]
    if wide:
        apart[count] = residual & _u32(0xFFFF)
        apart[count + 1] = residual >> _u32(16)
        return count + 2
    if residual < _u32(_LARGER):
        apart[count] = residual
        return count + 1
    apart[count] = _LARGER
    apart[count + 1] = residual & _u32(0xFFFF)
    apart[count + 2] = residual >> _u32(16)
    return count + MOST_WORDS


@njit(inline="always")
def _word(data, at):  # type: ignore[no-untyped-def]
    return _u32(data[at]) | (_u32(data[at + 1]) << _u32(8))


@njit(inline="always")
def get_escape(data, at, end, wide):  # type: ignore[no-untyped-def]
    """The residual at a place in bytes, and the place behind it. Nothing is read beyond `end`: a returned place that
    lies beyond it tells the caller that the data was too short."""
    first = _word(data, at) if at + 2 <= end else _u32(0)
    if wide:
        return first | (_word(data, at + 2) << _u32(16) if at + 4 <= end else _u32(0)), at + 4
    if first != _u32(_LARGER):
        return first, at + 2
    whole = _word(data, at + 2) | (_word(data, at + 4) << _u32(16)) if at + 6 <= end else _u32(0)
    return whole, at + 2 * MOST_WORDS


@njit(inline="always")
def _above(bits, base, i, planes, xor):  # type: ignore[no-untyped-def]
    """The residual of an element, above its planes of low bytes."""
    return residual_of(_u32(bits[i]), _u32(base[i]), bits.itemsize * 8, xor) >> _u32(8 * planes)


@njit(nogil=True)
def larger_than_not(noted, bits, base, planes, xor):  # type: ignore[no-untyped-def]
    """Number of noted escapes that do not fit a word, less the number of those that do."""
    more = 0
    for turn in range(noted.shape[0]):
        left = noted[turn]
        while left:
            i = 64 * turn + _element(_i64(_lowest_bit(left)), bits.itemsize)
            more += 1 if _above(bits, base, i, planes, xor) >= _u32(_LARGER) else -1
            left &= left - _u64(1)
    return more


@njit(nogil=True)
def put_escapes(symbols, residuals, ranges, apart):  # type: ignore[no-untyped-def]
    """Writes the escapes of one lane to `apart`, in the order of the elements, never wide; returns their words."""
    count = 0
    for i in range(symbols.shape[0]):
        if (ranges[symbols[i]] >> _u64(ENCODER_ESCAPED_AT)) & _u64(1):
            count = _put(_u32(residuals[i]), apart, count, False)
    return count


@njit(nogil=True)
def put_noted_escapes(noted, bits, base, planes, xor, apart, count, wide):  # type: ignore[no-untyped-def]
    """Writes the escapes that the rounds have noted behind the first `count` words; returns the number of words."""
    for turn in range(noted.shape[0]):
        left = noted[turn]
        while left:
            i = 64 * turn + _element(_i64(_lowest_bit(left)), bits.itemsize)
            count = _put(_above(bits, base, i, planes, xor), apart, count, wide)
            left &= left - _u64(1)
    return count


@njit(inline="always")
def _apply_residual(value, residual, xor, back):  # type: ignore[no-untyped-def]
    """The value with the residual applied; with `back`, the value that it was applied to."""
    if xor:
        return value ^ residual
    step = (residual >> _u32(1)) ^ (_u32(0) - (residual & _u32(1)))
    return value - step if back else value + step


@njit(nogil=True)
def get_noted_escapes(noted, data, at, end, wide, low, low_at, stride, planes, xor, out):  # type: ignore[no-untyped-def]
    """Puts right the elements that the rounds have noted; returns the place in `data` behind the last escape."""
    for turn in range(noted.shape[0]):
        bits = noted[turn]
        while bits:
            i = 64 * turn + _element(_i64(_lowest_bit(bits)), out.itemsize)
            below = _u32(0)
            for plane in range(planes):
                below |= _u32(low[low_at + plane * stride + i]) << _u32(8 * plane)
            whole, at = get_escape(data, at, end, wide)
            base = _apply_residual(_u32(out[i]), below, xor, True)
            out[i] = _apply_residual(base, (whole << _u32(8 * planes)) | below, xor, False)
            bits &= bits - _u64(1)
    return at
