"""Codes symbols as words, in one loop over all lanes, backwards: what is read last is written first."""

from __future__ import annotations

from typing import Any

from numba import njit, types
from numba.core.cgutils import unpack_tuple
from numba.extending import intrinsic

from assay.weights.codec.frequency_table import (
    ENCODER_NOISE_AT,
    FREQUENCY_AT,
    START_AT,
)
from assay.weights.codec.lanes.coder_state import MORE_LANES, PROBABILITY_BITS, PROBABILITY_SUM, STATE_BITS
from assay.weights.codec.lanes.lanes import (
    I16,
    I32,
    I64,
    POINTER,
    WIDTH,
    Loop,
    all_lanes,
    compress_words,
    count,
    gather_pairs,
    load,
    wide_halves,
    wide_joined,
    wide_lanes,
)

_ADDRESS, _INT = types.uint64, types.int64
_ARGUMENTS = (*[_ADDRESS] * 3, _INT, _ADDRESS)
_ONE = all_lanes(I32, 1)


class SpilledWords:
    """Words that all vectors write to, in turn, downwards."""

    def __init__(self, builder: Any, words: Any, place: Any) -> None:
        self.builder, self._words, self.place = builder, words, place

    def put(self, value: Any, mask: Any) -> None:
        """Writes the low words of the lanes of the mask, below those written before."""
        self.place = self.builder.sub(self.place, count(self.builder, mask))
        compress_words(self.builder, value, self._words, self.place, mask)

    def spill(self, state: Any, full: Any) -> Any:
        self.put(state, full)
        return self.builder.select(full, self.builder.lshr(state, all_lanes(I32, 16)), state)


def _encode_lanes(_numba: Any, builder: Any, signature: Any, given: Any) -> Any:
    together = signature.args[1].literal_value
    arguments = unpack_tuple(builder, given[0])
    symbols_at, ranges, words_at = (builder.inttoptr(address, POINTER) for address in arguments[:3])
    steps, states_at = arguments[3], builder.inttoptr(arguments[4], POINTER)
    loop = Loop(builder, MORE_LANES, steps, states_at)
    words = SpilledWords(builder, words_at, loop.place)
    start = builder.mul(builder.sub(builder.sub(steps, I64(1)), loop.round), I64(MORE_LANES))
    places = [builder.add(start, I64(first)) for first in range(0, MORE_LANES, together * WIDTH)]
    symbols = [part for at in places for part in load(builder, symbols_at, I16, at, together)]
    found = [found_in(builder, ranges, symbol) for symbol in symbols]
    states = list(loop.states)
    for v in reversed(range(len(states))):
        states[v] = with_symbol(words, states[v], *found[v], None)
    return loop.end(words.place, states)


def found_in(builder: Any, ranges: Any, symbol: Any) -> tuple[Any, Any]:
    """The symbols' entries in the table of `frequency_table.fill_encoder`: those of the even lanes and those of the odd
    ones, 64 bits each; and the low halves of all."""
    pair = gather_pairs(builder, ranges, symbol)
    return pair, wide_joined(builder, *pair)


def with_symbol(words: SpilledWords, state: Any, found: tuple[Any, Any], span: Any, residual: Any) -> Any:
    """The state with a token in it, and the noise of its residual if there is one."""
    builder = words.builder
    frequency = builder.lshr(span, all_lanes(I32, FREQUENCY_AT))
    start = builder.and_(builder.lshr(span, all_lanes(I32, START_AT)), all_lanes(I32, PROBABILITY_SUM - 1))
    room = all_lanes(I32, STATE_BITS - PROBABILITY_BITS)
    if residual is None:
        state = words.spill(state, builder.icmp_unsigned(">=", builder.lshr(state, room), frequency))
    else:
        length = builder.and_(builder.lshr(span, all_lanes(I32, ENCODER_NOISE_AT)), all_lanes(I32, 15))
        top = builder.lshr(state, builder.sub(room, length))
        state = words.spill(state, builder.icmp_unsigned(">=", top, frequency))
        mask = builder.sub(builder.shl(_ONE, length), _ONE)
        state = builder.or_(builder.shl(state, length), builder.and_(residual, mask))
    quotient = _quotient(builder, state, found)
    rest = builder.sub(state, builder.mul(quotient, frequency))
    return builder.add(builder.shl(quotient, all_lanes(I32, PROBABILITY_BITS)), builder.add(rest, start))


def _quotient(builder: Any, state: Any, found: tuple[Any, Any]) -> Any:
    """The state over the frequency: times its reciprocal, shifted. Even and odd lanes apart, as processors multiply."""
    products = []
    for part, entry in zip(wide_halves(builder, state), found, strict=True):
        by = builder.add(builder.and_(entry, wide_lanes(15)), wide_lanes(STATE_BITS))
        products.append(builder.lshr(builder.mul(part, builder.lshr(entry, wide_lanes(32))), by))
    return wide_joined(builder, *products)


@intrinsic(prefer_literal=True)
def _encode(typing, arguments, together):  # type: ignore[no-untyped-def]
    return types.int64(arguments, together), _encode_lanes


@njit(types.int64(*_ARGUMENTS, _INT), nogil=True, cache=True)
def encode_lanes(symbols, ranges, words, steps, states, width):  # type: ignore[no-untyped-def]
    """Addresses in, minus the number of words out, which are written downwards from the address `words`. For tokens
    without noise, in the order in which elements of `width` bits fill lanes."""
    arguments = (symbols, ranges, words, steps, states)
    return _encode(arguments, 1) if width == 32 else _encode(arguments, 2)
