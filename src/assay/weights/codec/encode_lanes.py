"""From symbols to words in one loop over 64 lanes, backwards: what is read last is written first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core.cgutils import unpack_tuple
from numba.extending import intrinsic

from assay.weights.codec.coder_state import PROBABILITY_BITS, PUSHED_AT_ONCE, STATE_BITS
from assay.weights.codec.lanes import (
    ELEMENTS,
    I16,
    I32,
    I64,
    LANES,
    POINTER,
    VECTORS,
    WIDTH,
    Loop,
    all_lanes,
    compress_words,
    count,
    gather,
    load,
    vector_of,
    when_any,
)
from assay.weights.codec.tokens import DIRECT_BITS

_ADDRESS, _INT = types.uint64, types.int64
_ARGUMENTS = (*[_ADDRESS] * 5, _INT, _ADDRESS)
_NONE = all_lanes(I32, 0)
_ONE = all_lanes(I32, 1)


class _Words:
    """The words that all vectors write to, in turn, downwards."""

    def __init__(self, builder: Any, words: Any, place: Any) -> None:
        self.builder, self._words, self.place = builder, words, place

    def spill(self, state: Any, full: Any) -> Any:
        builder = self.builder
        self.place = builder.sub(self.place, count(builder, full))
        compress_words(builder, state, self._words, self.place, full)
        return builder.select(full, builder.lshr(state, all_lanes(I32, 16)), state)

    def push(self, state: Any, noise: Any, length: Any) -> Any:
        """The state with that many bits of noise in it, at most 15."""
        builder = self.builder
        room = builder.sub(all_lanes(I32, STATE_BITS - 16), length)
        above = builder.lshr(builder.lshr(state, all_lanes(I32, 16)), room)
        state = self.spill(state, builder.icmp_unsigned("!=", above, _NONE))
        mask = builder.sub(builder.shl(_ONE, length), _ONE)
        return builder.or_(builder.shl(state, length), builder.and_(noise, mask))

    def only_if(self, needed: Any, state: Any, more: Callable[[], Any]) -> Any:
        """What `more` makes of it, if any lane needs it."""
        state, self.place = when_any(self.builder, needed, [state, self.place], lambda: [more(), self.place])
        return state


def _with_noise(words: _Words, state: Any, token: Any, residual: Any, width: int) -> Any:
    """As `decode_lanes._residual_16` and `_residual_32`, backwards."""
    builder, direct = words.builder, DIRECT_BITS[width]
    plain = builder.icmp_unsigned("<", token, all_lanes(I32, 1 << direct))
    octave = builder.lshr(builder.sub(token, all_lanes(I32, 1 << direct)), all_lanes(I32, 2))
    length = builder.select(plain, _NONE, builder.add(octave, all_lanes(I32, direct - 2)))
    if width == 16:
        return words.only_if(builder.not_(plain), state, lambda: words.push(state, residual, length))
    most = all_lanes(I32, PUSHED_AT_ONCE)
    low = builder.select(builder.icmp_unsigned("<", length, most), length, most)
    state = words.push(state, builder.lshr(residual, most), builder.sub(length, low))
    return words.push(state, residual, low)


def _encode_lanes(_numba: Any, builder: Any, signature: Any, given: Any) -> Any:
    width, noise = (argument.literal_value for argument in signature.args[1:])
    arguments = unpack_tuple(builder, given[0])
    symbols, residuals, ranges, reciprocals, words_at = (builder.inttoptr(a, POINTER) for a in arguments[:5])
    steps = arguments[5]
    loop = Loop(builder, steps, builder.inttoptr(arguments[6], POINTER))
    words = _Words(builder, words_at, loop.place)
    backwards = builder.sub(builder.sub(steps, I64(1)), loop.round)
    states = list(loop.states)
    together = 1 if width == 32 else 2
    for first in reversed(range(0, VECTORS, together)):
        at = builder.add(builder.mul(backwards, I64(LANES)), I64(WIDTH * first))
        of_symbols = load(builder, symbols, I16, at, together)
        of_residuals = load(builder, residuals, ELEMENTS[width], at, together) if noise else of_symbols
        for vector in reversed(range(first, first + together)):
            symbol, residual = of_symbols[vector - first], of_residuals[vector - first]
            state = loop.states[vector]
            if noise:
                token = builder.and_(symbol, all_lanes(I32, 0xFF))
                state = _with_noise(words, state, token, residual, width)
            states[vector] = _with_symbol(words, state, symbol, ranges, reciprocals)
    return loop.end(words.place, states)


def _with_symbol(words: _Words, state: Any, symbol: Any, ranges: Any, reciprocals: Any) -> Any:
    builder = words.builder
    span = gather(builder, ranges, symbol, I32)  # see `frequency_table.fill_encoder`
    reciprocal = gather(builder, reciprocals, symbol, I32)
    frequency = builder.lshr(span, all_lanes(I32, 16))
    start = builder.and_(builder.lshr(span, all_lanes(I32, 4)), all_lanes(I32, 0xFFF))
    top = builder.lshr(state, all_lanes(I32, STATE_BITS - PROBABILITY_BITS))
    state = words.spill(state, builder.icmp_unsigned(">=", top, frequency))
    shift = builder.add(builder.and_(span, all_lanes(I32, 15)), all_lanes(I32, STATE_BITS))
    quotient = _scaled(builder, state, reciprocal, shift)
    rest = builder.sub(state, builder.mul(quotient, frequency))
    return builder.add(builder.shl(quotient, all_lanes(I32, PROBABILITY_BITS)), builder.add(rest, start))


def _scaled(builder: Any, value: Any, factor: Any, shift: Any) -> Any:
    """The product of 64 bits, shifted: of the even lanes and of the odd ones, as processors multiply."""
    wide = ir.VectorType(I64, WIDTH // 2)
    low, half = (ir.Constant(wide, [constant] * (WIDTH // 2)) for constant in (0xFFFFFFFF, 32))
    pairs = [builder.bitcast(vector, wide) for vector in (value, factor, shift)]
    even = [builder.and_(pair, low) for pair in pairs]
    odd = [builder.lshr(pair, half) for pair in pairs]
    products = [builder.lshr(builder.mul(x, y), by) for x, y, by in (even, odd)]
    return builder.bitcast(builder.or_(products[0], builder.shl(products[1], half)), vector_of(I32))


@intrinsic(prefer_literal=True)
def _encode(typing, arguments, width, noise):  # type: ignore[no-untyped-def]
    return types.int64(arguments, width, noise), _encode_lanes


@njit(types.int64(*_ARGUMENTS, _INT, _INT), nogil=True, cache=True)
def encode_lanes(symbols, residuals, ranges, reciprocals, words, steps, states, width, noise):  # type: ignore[no-untyped-def]
    """Writes words downwards from the address `words`; minus the number written."""
    arguments = (symbols, residuals, ranges, reciprocals, words, steps, states)
    if width == 32:
        return _encode(arguments, 32, True) if noise else _encode(arguments, 32, False)
    return _encode(arguments, 16, True) if noise else _encode(arguments, 16, False)
