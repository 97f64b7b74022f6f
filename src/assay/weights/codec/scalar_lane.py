"""The same coder as `rans_lanes` with one lane, for tensors so small that 64 states would be a large part of them."""

from __future__ import annotations

import numba as nb
from numba import njit, types

from assay.weights.codec.rans_lanes import LOWEST_STATE, PROBABILITY_BITS, PROBABILITY_SUM, RECIPROCAL_SHIFT

_u32, _u64 = nb.uint32, nb.uint64
_READ = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32, 64)}
_WRITE = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C") for bits in (8, 16)}


@njit(types.UniTuple(types.int64, 2)(_READ[16], _READ[32], _READ[64], _WRITE[16]), nogil=True, cache=True)
def encode_lane(symbols, ranges, reciprocals, words):  # type: ignore[no-untyped-def]
    """Writes words downwards from the end of `words`: the place of the first, and the final state."""
    state, place = _u64(LOWEST_STATE), _u64(words.shape[0])
    for i in range(symbols.shape[0]):
        symbol = symbols[symbols.shape[0] - 1 - i]
        frequency, start = _u64(ranges[symbol] >> _u32(16)), _u64(ranges[symbol] & _u32(0xFFFF))
        if (state >> _u64(32 - PROBABILITY_BITS)) >= frequency:
            place -= _u64(1)
            words[place] = state & _u64(0xFFFF)
            state >>= _u64(16)
        quotient = (state * reciprocals[symbol]) >> _u64(RECIPROCAL_SHIFT)
        state = (quotient << _u64(PROBABILITY_BITS)) + (state - quotient * frequency) + start
    return nb.int64(place), nb.int64(state)


@njit(types.int64(_READ[16], types.int64, _READ[32], _READ[8], _WRITE[8]), nogil=True, cache=True)
def decode_lane(words, state, slots, contexts, tokens):  # type: ignore[no-untyped-def]
    """-1 if the words do not end where the tokens do, in the state that encoding began with."""
    state, place = _u64(state), _u64(0)
    for i in range(tokens.shape[0]):
        found = slots[(_u64(contexts[i]) << _u64(PROBABILITY_BITS)) | (state & _u64(PROBABILITY_SUM - 1))]
        tokens[i] = found >> _u32(24)
        frequency = _u64((found >> _u32(12)) & _u32(0xFFF)) + _u64(1)
        state = (state >> _u64(PROBABILITY_BITS)) * frequency + _u64(found & _u32(0xFFF))
        if state < _u64(LOWEST_STATE):
            if place >= _u64(words.shape[0]):
                return -1
            state = (state << _u64(16)) | _u64(words[place])
            place += _u64(1)
    return 0 if state == _u64(LOWEST_STATE) and place == _u64(words.shape[0]) else -1
