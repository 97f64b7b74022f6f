"""The same coder as `encode_lanes` and `decode_lanes` with one lane, for tensors so small that 64 states would be a
large part of them."""

from __future__ import annotations

from typing import Any

import numba as nb
from numba import njit, types

from assay.weights.codec.escapes import get_escape
from assay.weights.codec.frequency_table import (
    ENCODER_NOISE_AT,
    ESCAPED_AT,
    FREQUENCY_AT,
    MEANING_AT,
    NOISE_AT,
    SHARE_AT,
    START_AT,
)
from assay.weights.codec.tokens import DIRECT, context_of
from assay.weights.codec.vector_operations import (
    LEADING,
    LOWEST_STATE,
    NOISE,
    PROBABILITY_BITS,
    PROBABILITY_SUM,
    STATE_BITS,
)

_u32, _u64 = nb.uint32, nb.uint64
_READ = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32)}
_RANGES = types.Array(types.uint64, 1, "C", readonly=True)
_WRITE = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C") for bits in (8, 16, 32)}


@njit(
    [types.UniTuple(types.int64, 2)(_READ[16], _READ[b], _RANGES, _WRITE[16], types.int64) for b in (8, 16, 32)],
    nogil=True,
    cache=True,
)
def encode_lane(symbols, residuals, ranges, words, end):  # type: ignore[no-untyped-def]
    """Writes words downwards from `end`; returns the place of the first, and the final state."""
    state, place = _u64(LOWEST_STATE), end
    for i in range(symbols.shape[0] - 1, -1, -1):
        symbol, residual = symbols[i], _u64(residuals[i])
        span, reciprocal = ranges[symbol] & _u64(0xFFFFFFFF), ranges[symbol] >> _u64(32)  # see `fill_encoder`
        frequency, start = span >> _u64(FREQUENCY_AT), (span >> _u64(START_AT)) & _u64(PROBABILITY_SUM - 1)
        length = (span >> _u64(ENCODER_NOISE_AT)) & _u64(15)
        if (state >> (_u64(STATE_BITS - PROBABILITY_BITS) - length)) >= frequency:
            place -= 1
            words[place] = state & _u64(0xFFFF)
            state >>= _u64(16)
        state = (state << length) | (residual & ((_u64(1) << length) - _u64(1)))
        quotient = (state * reciprocal) >> (_u64(STATE_BITS) + (span & _u64(15)))
        state = (quotient << _u64(PROBABILITY_BITS)) + (state - quotient * frequency) + start
    return place, nb.int64(state)


@njit(inline="always")
def _word(data, at, end):  # type: ignore[no-untyped-def]
    """The word at a place; zero beyond the end, which the caller notices by the place."""
    return _u64(data[at]) | (_u64(data[at + 1]) << _u64(8)) if at + 1 < end else _u64(0)


def _signatures() -> list[Any]:
    fixed = (_READ[8], *[types.int64] * 4, _WRITE[32], _WRITE[8])
    return [types.boolean(*fixed, _READ[b], *[types.int64] * 8, _WRITE[b]) for b in (8, 16, 32)]


@njit(_signatures(), nogil=True, cache=True)
def decode_lane(  # type: ignore[no-untyped-def]
    data, apart, place, end, first, slots, table_of, base, mantissa, mask, below, last, is_float, xor, content, planes,
    out,
):  # fmt: skip
    """False if the tokens do not end at `end`, in the state that encoding began with. `base` may be `out`.

    Escapes are in `data` from `apart` to `place`, planes of low bytes from `end` on. `slots` are by table here, not by
    context: most small tensors have only one.
    """
    state, escape, apart_end, size = _u64(first), apart, place, out.shape[0]
    sign_at = _u32(out.itemsize * 8 - 1)
    low_bits = _u64(PROBABILITY_SUM - 1)
    for i in range(size):
        b = _u32(0) if content == LEADING else _u32(base[i])
        context = _u64(context_of(b, _u32(mantissa), _u32(mask), _u32(below), _u32(last)))
        found = _u64(slots[(_u64(table_of[context]) << _u64(PROBABILITY_BITS)) | (state & low_bits)])
        frequency = found >> _u64(SHARE_AT)
        state = (state >> _u64(PROBABILITY_BITS)) * frequency + (found & low_bits)
        residual = (found >> _u64(MEANING_AT)) & _u64(0xFF)
        if content == NOISE:
            length = (found >> _u64(NOISE_AT)) & _u64(15)
            noise = state & ((_u64(1) << length) - _u64(1))
            residual = ((residual & _u64(DIRECT - 1)) << length) | noise
            state >>= length
            if (found >> _u64(ESCAPED_AT)) & _u64(1):
                whole, escape = get_escape(data, escape, apart_end, False)
                residual = _u64(whole)
        if state < _u64(LOWEST_STATE):
            state = (state << _u64(16)) | _word(data, place, end)
            place += 2
        residual <<= _u64(8 * planes)
        for plane in range(planes):
            residual |= _u64(data[end + plane * size + i]) << _u64(8 * plane)
        if content == LEADING:
            value = _u32(residual)
            out[i] = (value >> _u32(1)) | (value << sign_at) if is_float else value
            continue
        if xor:
            out[i] = b ^ _u32(residual)
            continue
        out[i] = b + ((_u32(residual) >> _u32(1)) ^ (_u32(0) - (_u32(residual) & _u32(1))))
    return state == _u64(LOWEST_STATE) and place == end and escape == apart_end
