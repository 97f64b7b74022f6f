"""Residuals and tokens: what is left of a tensor when its base is known, and the part of it worth an entropy coder.

A residual is the zigzag of the difference of two bit patterns as integers, or the XOR. Between floats of one sign the
difference says how many floats lie between them, and whether the magnitude grows; the few that change their sign cost
nearly all their bits however they are ordered. Small residuals are tokens themselves;
larger ones share four tokens an octave and keep their low bits as they are, as in JPEG XL's hybrid integers
(ISO/IEC 18181-1), which costs next to nothing because those bits are noise. The context of a token is the exponent of
the base, which the decoder has: a window of exponents, the ends taking what lies beyond. All on unsigned integers of
8, 16 or 32 bits.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numba as nb
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from assay.weights.store import Tensor

DIRECT_BITS = 6
"""Residuals below 2**this are tokens as they are; of 8 bits, all are."""
DIRECT = 1 << DIRECT_BITS
MOST_NOISE = 14
FIRST_NOISE = DIRECT_BITS - 2
ESCAPE = DIRECT + 4 * (MOST_NOISE - FIRST_NOISE + 1)
"""Token of residuals that are stored whole: those with more than `MOST_NOISE` bits of noise, and those whose own token
would be too rare for the noise it has."""

_u32, _u64, _i32 = nb.uint32, nb.uint64, nb.int32
_SYMBOLS = types.Array(types.uint16, 1, "C", readonly=True)


@cache
def noise_bits(width: int) -> Tensor:
    """Bits of noise that follow each token."""
    length = np.zeros(256, np.uint8)
    if width > 8:
        length[DIRECT:ESCAPE] = FIRST_NOISE + np.arange(ESCAPE - DIRECT) // 4
        length[ESCAPE] = 32
    return length


@intrinsic
def leading_zeros(typing, value):  # type: ignore[no-untyped-def]
    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint32(types.uint32), code


@njit(inline="always")
def token_of(value, width):  # type: ignore[no-untyped-def]
    if width == 8 or value < _u32(DIRECT):
        return _u32(value)
    octave = _u32(31) - leading_zeros(_u32(value))
    above = ((octave - _u32(DIRECT_BITS)) << _u32(2)) + ((value >> (octave - _u32(2))) & _u32(3))
    return min(_u32(DIRECT) + above, _u32(ESCAPE))


@njit(inline="always")
def noise_length(token):  # type: ignore[no-untyped-def]
    """Bits of noise that follow the token of a residual of 16 or 32 bits; 0 where it is stored whole."""
    return FIRST_NOISE + ((token - DIRECT) >> 2) if DIRECT <= token < ESCAPE else 0


@njit(inline="always")
def context_of(base, mantissa, mask, below, last):  # type: ignore[no-untyped-def]
    """Context of an element, by its base's exponent: 0 up to `below`, then one for each exponent, `last` for all
    above."""
    return min(max((base >> mantissa) & mask, below) - below, last)


@njit(inline="always")
def residual_of(x, b, width, xor):  # type: ignore[no-untyped-def]
    if xor:
        return x ^ b
    # The difference is moved to the top bits of a word, so that its sign is the word's at every width.
    shift = _u32(32 - width)
    signed = _i32(_u32((x - b) << shift))
    return _u32((_u32(signed) << _u32(1)) ^ _u32(signed >> _i32(31))) >> shift


@njit(types.void(_SYMBOLS, types.Array(types.uint32, 2, "C")), nogil=True, cache=True)
def count_symbols(symbol, counts):  # type: ignore[no-untyped-def]
    """Counts symbols, each context * 256 + token, into four tables: adding to one place twice in a row would wait for
    the first addition."""
    whole = symbol.shape[0] & ~3
    for i in range(0, whole, 4):
        counts[0, symbol[i]] += _u32(1)
        counts[1, symbol[i + 1]] += _u32(1)
        counts[2, symbol[i + 2]] += _u32(1)
        counts[3, symbol[i + 3]] += _u32(1)
    for i in range(whole, symbol.shape[0]):
        counts[0, symbol[i]] += _u32(1)
