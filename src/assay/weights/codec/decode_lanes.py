"""From words to bit patterns in one loop over 64 lanes: context, token, noise, and what the token was made of undone.

Interleaving lanes over one stream of words, so that a vector unit advances all of them at once, is by Giesen
(arXiv:1402.3392). States are 32 bits wide; what is done to elements of 8 and 16 bits is done to 32 of them at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit, types
from numba.core.cgutils import unpack_tuple
from numba.extending import intrinsic

from assay.weights.codec.coder_state import LOWEST_STATE, PROBABILITY_BITS, PROBABILITY_SUM, PUSHED_AT_ONCE
from assay.weights.codec.element_lanes import Elements
from assay.weights.codec.lanes import (
    I32,
    I64,
    LANES,
    POINTER,
    VECTORS,
    WIDTH,
    Loop,
    all_lanes,
    count,
    expand_words,
    gather,
    halves,
    joined,
    when_any,
)
from assay.weights.codec.tokens import DIRECT_BITS

_ADDRESS, _INT = types.uint64, types.int64
_ARGUMENTS = (*[_ADDRESS] * 4, _INT, _ADDRESS, _INT, _ADDRESS, *[_INT] * 6)
TOKENS, SOME_NOISE, MUCH_NOISE, LEADING = range(4)
"""What a stream consists of: tokens alone; with noise now and then, or all the time; or the leading bytes of elements
whose other bytes are there."""
_NONE = all_lanes(I32, 0)
_ONE = all_lanes(I32, 1)


class _Words:
    """The words that all vectors take from, in turn."""

    def __init__(self, builder: Any, words: Any, place: Any) -> None:
        self.builder, self._words, self.place = builder, words, place

    def refill(self, state: Any) -> Any:
        builder = self.builder
        empty = builder.icmp_unsigned("<", state, all_lanes(I32, LOWEST_STATE))
        more = expand_words(builder, self._words, self.place, empty)
        self.place = builder.add(self.place, count(builder, empty))
        return builder.select(empty, builder.or_(builder.shl(state, all_lanes(I32, 16)), more), state)

    def pop(self, state: Any, length: Any) -> tuple[Any, Any]:
        """Noise of that many bits, at most 16, and the state without it."""
        builder = self.builder
        mask = builder.sub(builder.shl(_ONE, length), _ONE)
        return builder.and_(state, mask), self.refill(builder.lshr(state, length))

    def only_if(self, needed: Any, residual: Any, state: Any, more: Callable[[], tuple[Any, Any]]) -> tuple[Any, Any]:
        """What `more` makes of them, if any lane needs it."""
        values = [residual, state, self.place]
        residual, state, self.place = when_any(self.builder, needed, values, lambda: [*more(), self.place])
        return residual, state


def _residual_32(words: _Words, state: Any, meaning: Any, _: int) -> tuple[Any, Any]:
    """See `tokens.meaning_of`."""
    builder = words.builder
    length = builder.lshr(meaning, all_lanes(I32, 3))
    residual = builder.shl(builder.and_(meaning, all_lanes(I32, 7)), length)
    most = all_lanes(I32, PUSHED_AT_ONCE)
    long = builder.icmp_unsigned(">", length, most)
    low = builder.select(long, most, length)
    noise, state = words.pop(state, low)
    residual = builder.add(residual, noise)

    def more() -> tuple[Any, Any]:
        noise, popped = words.pop(state, builder.sub(length, low))
        return builder.add(residual, builder.shl(noise, most)), popped

    return words.only_if(long, residual, state, more)


def _residual_16(words: _Words, state: Any, token: Any, content: int) -> tuple[Any, Any]:
    """As `tokens.token_of`, backwards."""
    builder, direct = words.builder, DIRECT_BITS[16]
    large = builder.icmp_unsigned(">=", token, all_lanes(I32, 1 << direct))

    def more() -> tuple[Any, Any]:
        octave = builder.lshr(builder.sub(token, all_lanes(I32, 1 << direct)), all_lanes(I32, 2))
        # A token that no encoder writes must not take more than 16 bits.
        length = builder.and_(builder.add(octave, all_lanes(I32, direct - 2)), all_lanes(I32, 15))
        length = builder.select(large, length, _NONE)
        head = builder.or_(builder.and_(token, all_lanes(I32, 3)), all_lanes(I32, 4))
        residual = builder.select(large, builder.shl(head, length), token)
        noise, popped = words.pop(state, length)
        return builder.add(residual, noise), popped

    # Where a branch would be guessed wrong too often there is none.
    return more() if content == MUCH_NOISE else words.only_if(large, token, state, more)


def _decode_lanes(_numba: Any, builder: Any, signature: Any, given: Any) -> Any:
    width, content, floats = (argument.literal_value for argument in signature.args[1:])
    arguments = unpack_tuple(builder, given[0])
    words_at, slots, base, out = (builder.inttoptr(a, POINTER) for a in arguments[:4])
    states_at, rounds_at = (builder.inttoptr(arguments[i], POINTER) for i in (5, 7))
    elements = Elements(builder, width)
    field = [elements.splat(argument) for argument in arguments[8:12]]
    is_float = None if floats else elements.splat(builder.sub(I64(0), arguments[12]))
    xor = None if floats else builder.icmp_unsigned("!=", elements.splat(arguments[13]), elements.constant(0))
    loop = Loop(builder, arguments[4], states_at, limit=arguments[6])
    words = _Words(builder, words_at, loop.place)
    states: list[Any] = []
    together = elements.lanes // WIDTH
    for first in range(0, VECTORS, together):
        at = builder.add(builder.mul(loop.round, I64(LANES)), I64(WIDTH * first))
        leading = content == LEADING
        under = elements.load_rest(base, at, arguments[8]) if leading else elements.load(base, at)
        context = elements.constant(0) if leading else elements.context(under, *field)
        context = builder.shl(context, elements.constant(PROBABILITY_BITS))
        residuals = []
        for vector, part in enumerate(halves(builder, context, together), first):
            state = loop.states[vector]
            slot = builder.or_(part, builder.and_(state, all_lanes(I32, PROBABILITY_SUM - 1)))
            found = gather(builder, slots, slot, I32)  # see `frequency_table.fill_decoder`
            frequency = builder.and_(builder.lshr(found, all_lanes(I32, 12)), all_lanes(I32, 0xFFF))
            share = builder.mul(builder.lshr(state, all_lanes(I32, PROBABILITY_BITS)), frequency)
            state = words.refill(builder.add(share, builder.and_(found, all_lanes(I32, 0xFFF))))
            residual = builder.lshr(found, all_lanes(I32, 24))
            if content in (SOME_NOISE, MUCH_NOISE):
                take = _residual_32 if width == 32 else _residual_16
                residual, state = take(words, state, residual, content)
            residuals.append(residual)
            states.append(state)
        token = joined(builder, residuals)
        if leading:
            value = elements.led(under, token, is_float)
        else:
            value = elements.undone(under, token, is_float, xor)
        elements.store(value, out, at)
    return loop.end(words.place, states, rounds_at)


@intrinsic(prefer_literal=True)
def _decode(typing, arguments, width, content, floats):  # type: ignore[no-untyped-def]
    """A loop for each width of an element, kind of stream, and whether it holds differences of floats and no other."""
    return types.int64(arguments, width, content, floats), _decode_lanes


@njit(types.int64(*_ARGUMENTS, _INT, _INT), nogil=True, cache=True)
def decode_lanes(words, slots, base, out, steps, states, limit, rounds, m, e, lo, hi, is_float, xor, width, content):  # type: ignore[no-untyped-def]
    """Addresses in, the number of words read out. Stops before a round that begins beyond word `limit`.

    `base` may be `out`; with LEADING it is the other bytes of the elements, by planes `m` bytes apart. The number of
    rounds is left at `rounds`. `m`, `e`, `lo`, `hi`: see `tokens.context_of`. What is common has a loop of its own.
    """
    arguments = (words, slots, base, out, steps, states, limit, rounds, m, e, lo, hi, is_float, xor)
    everyday = is_float and not xor
    if width == 8:
        return _decode(arguments, 8, TOKENS, False)
    if width == 16:
        if content == LEADING:
            return _decode(arguments, 16, LEADING, True) if everyday else _decode(arguments, 16, LEADING, False)
        if everyday and content == MUCH_NOISE:
            return _decode(arguments, 16, MUCH_NOISE, True)
        return _decode(arguments, 16, SOME_NOISE, True) if everyday else _decode(arguments, 16, SOME_NOISE, False)
    if content == LEADING:
        return _decode(arguments, 32, LEADING, True) if everyday else _decode(arguments, 32, LEADING, False)
    return _decode(arguments, 32, MUCH_NOISE, True) if everyday else _decode(arguments, 32, MUCH_NOISE, False)
