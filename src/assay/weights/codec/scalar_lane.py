"""The same coder as `encode_lanes` and `decode_lanes` with one lane, for tensors so small that 64 states would be a
large part of them."""

from __future__ import annotations

from typing import Any

import numba as nb
from numba import njit, types

from assay.weights.codec.coder_state import (
    LOWEST_STATE,
    PROBABILITY_BITS,
    PROBABILITY_SUM,
    PUSHED_AT_ONCE,
    STATE_BITS,
)
from assay.weights.codec.tokens import context_of, noise_length

_u32, _u64 = nb.uint32, nb.uint64
_READ = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32)}
_WRITE = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C") for bits in (8, 16, 32)}


@njit(inline="always")
def _push(state, words, place, noise, length):  # type: ignore[no-untyped-def]
    if state >> (_u64(STATE_BITS) - length):
        place -= 1
        words[place] = state & _u64(0xFFFF)
        state >>= _u64(16)
    return (state << length) | (noise & ((_u64(1) << length) - _u64(1))), place


@njit(
    [types.UniTuple(types.int64, 2)(_READ[16], _READ[b], _READ[32], _READ[32], _WRITE[16], types.int64, types.int64)
     for b in (8, 16, 32)],
    nogil=True,
    cache=True,
)  # fmt: skip
def encode_lane(symbols, residuals, ranges, reciprocals, words, end, direct):  # type: ignore[no-untyped-def]
    """Writes words downwards from `end`: the place of the first, and the final state."""
    state, place = _u64(LOWEST_STATE), end
    for i in range(symbols.shape[0] - 1, -1, -1):
        symbol, residual = symbols[i], _u64(residuals[i])
        length = _u64(noise_length(_u32(symbol) & _u32(0xFF), _u32(direct)))
        if length:
            low = min(length, _u64(PUSHED_AT_ONCE))
            state, place = _push(state, words, place, residual >> _u64(PUSHED_AT_ONCE), length - low)
            state, place = _push(state, words, place, residual, low)
        span = _u64(ranges[symbol])  # see `frequency_table.fill_encoder`
        frequency, start = span >> _u64(16), (span >> _u64(4)) & _u64(0xFFF)
        if (state >> _u64(STATE_BITS - PROBABILITY_BITS)) >= frequency:
            place -= 1
            words[place] = state & _u64(0xFFFF)
            state >>= _u64(16)
        quotient = (state * _u64(reciprocals[symbol])) >> (_u64(STATE_BITS) + (span & _u64(15)))
        state = (quotient << _u64(PROBABILITY_BITS)) + (state - quotient * frequency) + start
    return place, nb.int64(state)


@njit(inline="always")
def _refill(state, data, place, end):  # type: ignore[no-untyped-def]
    """Beyond the end there are zeros: the caller sees by the place that they were read."""
    if state < _u64(LOWEST_STATE):
        word = _u64(0)
        if place + 1 < end:
            word = _u64(data[place]) | (_u64(data[place + 1]) << _u64(8))
        state = (state << _u64(16)) | word
        place += 2
    return state, place


def _signatures() -> list[Any]:
    fixed = (_READ[8], types.int64, types.int64, _WRITE[32], _WRITE[8])
    return [types.boolean(*fixed, _READ[b], *[types.int64] * 7, _WRITE[b]) for b in (8, 16, 32)]


@njit(_signatures(), nogil=True, cache=True)
def decode_lane(data, place, first, slots, table_of, base, mantissa, mask, below, last, is_float, xor, leading, out):  # type: ignore[no-untyped-def]
    """False if `data` does not end where the tokens do, in the state that encoding began with. `base` may be `out`.

    `slots` are by table here, not by context: most small tensors have only one.
    """
    state, end = _u64(first), data.shape[0]
    width = out.itemsize * 8
    direct = 8 if width == 8 else 7
    full = _u32((_u64(1) << _u64(width)) - _u64(1))
    sign_at = _u32(width - 1)
    top = _u32(1) << sign_at if is_float else _u32(0)
    inverted = full if is_float else _u32(0)
    for i in range(out.shape[0]):
        b = _u32(base[i])
        context = _u64(context_of(b, _u32(mantissa), _u32(mask), _u32(below), _u32(last)))
        found = slots[(_u64(table_of[context]) << _u64(PROBABILITY_BITS)) | (state & _u64(PROBABILITY_SUM - 1))]
        frequency = _u64((found >> _u32(12)) & _u32(0xFFF))
        state = (state >> _u64(PROBABILITY_BITS)) * frequency + _u64(found & _u32(0xFFF))
        state, place = _refill(state, data, place, end)
        # See `tokens.meaning_of`.
        token = found >> _u32(24)
        if leading:
            value = b | (token << _u32(width - 8))
            out[i] = (value >> _u32(1)) | (value << sign_at) if is_float else value
            continue
        if width == 32:
            length = _u64(token >> _u32(3))
            residual = _u64(token & _u32(7)) << length
        else:
            length = _u64(noise_length(token, _u32(direct)))
            residual = _u64(_u32(4) | (token & _u32(3))) << length if length else _u64(token)
        if length:
            low = min(length, _u64(PUSHED_AT_ONCE))
            residual += state & ((_u64(1) << low) - _u64(1))
            state, place = _refill(state >> low, data, place, end)
            high = length - low
            residual += (state & ((_u64(1) << high) - _u64(1))) << _u64(PUSHED_AT_ONCE)
            state, place = _refill(state >> high, data, place, end)
        if xor:
            out[i] = b ^ _u32(residual)
            continue
        ordered = b ^ (top | ((_u32(0) - (b >> sign_at)) & inverted))
        step = (_u32(residual) >> _u32(1)) ^ (_u32(0) - (_u32(residual) & _u32(1)))
        ordered = _u32(ordered + step) & full
        out[i] = ordered ^ (top | ((_u32(0) - ((ordered >> sign_at) ^ _u32(1))) & inverted))
    return state == _u64(LOWEST_STATE) and place == end
