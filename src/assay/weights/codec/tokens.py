"""Residuals and tokens: what is left of a tensor when its base is known, and the part of it worth an entropy coder.

A residual is the zigzag of the ordered-integer difference, or the XOR. Small residuals are tokens themselves;
larger ones share four tokens an octave and keep their low bits raw, as in JPEG XL's hybrid integers (ISO/IEC 18181-1),
which costs next to nothing because those bits are noise. The context of a token is the exponent of the base, which
the decoder has: 0 for the exponent field 0, then a window of exponents, the ends taking what lies beyond.
All on unsigned integers of 8, 16 or 32 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numba as nb
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from assay.weights.store import Tensor

_u8, _u16, _u32, _u64, _i32 = nb.uint8, nb.uint16, nb.uint32, nb.uint64, nb.int32
_ARRAYS = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=False) for bits in (8, 16, 32, 64)}
_READ = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32)}


@dataclass(frozen=True)
class TokenCode:
    """Where raw bits begin for a width: residuals below 2**direct are tokens as they are."""

    direct: int
    raw_bits: Tensor
    """How many follow each token."""
    meaning: Tensor
    """Of each token: the residual it stands for when its raw bits are zero, and above bit 32 how many there are."""


@cache
def token_code(bits: int) -> TokenCode:
    direct = {8: 8, 16: 7, 32: 4}[bits]
    token = np.arange(256, dtype=np.int64)
    above = token - (1 << direct)
    octave = direct + (above >> 2)
    raw = np.where(above < 0, 0, octave - 2)
    known = (above < 0) | (octave < bits)
    first = np.where(above < 0, token, (4 + (above & 3)) << np.minimum(raw, 40))
    raw, first = np.where(known, raw, 0), np.where(known, first, 0)
    return TokenCode(direct, raw.astype(np.uint8), (first | raw << 32).astype(np.uint64))


@intrinsic
def _leading_zeros(typing, value):  # type: ignore[no-untyped-def]
    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint32(types.uint32), code


@njit(inline="always")
def _token(value, direct):  # type: ignore[no-untyped-def]
    octave = _u32(31) - _leading_zeros(_u32(value | _u32(4)))
    shared = (_u32(1) << direct) + ((octave - direct) << _u32(2)) + ((value >> (octave - _u32(2))) & _u32(3))
    return value if value < (_u32(1) << direct) else shared


@njit(inline="always")
def _context(base, mantissa, mask, lowest, last):  # type: ignore[no-untyped-def]
    exponent = (base >> mantissa) & mask
    place = min(max(exponent, lowest) - lowest + _u32(1), last)
    return place if exponent != _u32(0) else _u32(0)


def _residual_signatures(result: Any) -> list[Any]:
    return [result(_READ[b], _READ[b], *[types.int64] * 7, _ARRAYS[b], _ARRAYS[16]) for b in (8, 16, 32)]


@njit(_residual_signatures(types.void), nogil=True, cache=True)
def difference_symbols(bits, base, width, is_float, mantissa, mask, lowest, last, direct, residual, symbol):  # type: ignore[no-untyped-def]
    top = _u32(_u64(1) << _u64(width - 1))
    full = _u32((_u64(1) << _u64(width)) - _u64(1))
    shift = _u32(32 - width)
    sign = top if is_float else _u32(0)
    m, e, lo, hi, d = _u32(mantissa), _u32(mask), _u32(lowest), _u32(last), _u32(direct)
    for i in range(bits.shape[0]):
        x, b = _u32(bits[i]), _u32(base[i])
        ordered_x = x ^ full if x & sign else x | sign
        ordered_b = b ^ full if b & sign else b | sign
        # In the top bits of a word, so that the sign of the difference is the sign of the word at every width.
        signed = _i32(_u32((ordered_x - ordered_b) << shift))
        zigzag = _u32((_u32(signed) << _u32(1)) ^ _u32(signed >> _i32(31))) >> shift
        residual[i] = zigzag
        symbol[i] = _u16((_context(b, m, e, lo, hi) << _u32(8)) | _token(zigzag, d))


@njit(_residual_signatures(types.void), nogil=True, cache=True)
def xor_symbols(bits, base, width, is_float, mantissa, mask, lowest, last, direct, residual, symbol):  # type: ignore[no-untyped-def]
    m, e, lo, hi, d = _u32(mantissa), _u32(mask), _u32(lowest), _u32(last), _u32(direct)
    for i in range(bits.shape[0]):
        b = _u32(base[i])
        x = _u32(bits[i]) ^ b
        residual[i] = x
        symbol[i] = _u16((_context(b, m, e, lo, hi) << _u32(8)) | _token(x, d))


@njit([types.void(_READ[b], *[types.int64] * 4, _ARRAYS[8]) for b in (8, 16, 32)], nogil=True, cache=True)
def contexts_of(base, mantissa, mask, lowest, last, context):  # type: ignore[no-untyped-def]
    m, e, lo, hi = _u32(mantissa), _u32(mask), _u32(lowest), _u32(last)
    for i in range(base.shape[0]):
        context[i] = _u8(_context(_u32(base[i]), m, e, lo, hi))


@njit(types.void(_READ[16], types.Array(types.uint32, 2, "C")), nogil=True, cache=True)
def count_symbols(symbol, counts):  # type: ignore[no-untyped-def]
    """Four tables, because adding twice in a row to one place would wait for the first addition."""
    whole = symbol.shape[0] & ~3
    for i in range(0, whole, 4):
        counts[0, symbol[i]] += _u32(1)
        counts[1, symbol[i + 1]] += _u32(1)
        counts[2, symbol[i + 2]] += _u32(1)
        counts[3, symbol[i + 3]] += _u32(1)
    for i in range(whole, symbol.shape[0]):
        counts[0, symbol[i]] += _u32(1)
