"""From words to bit patterns in one loop over 64 lanes: context, token, noise, and what the token was made of undone.

Interleaving lanes over one stream of words, so that a vector unit advances all of them at once, is by Giesen
(arXiv:1402.3392). States are 32 bits wide; what is done to elements of 8 and 16 bits is done to 32 of them at a time.
"""

from __future__ import annotations

from typing import Any

from numba import njit, types
from numba.core.cgutils import unpack_tuple
from numba.extending import intrinsic

from assay.weights.codec.coder_state import (
    LEADING,
    LOWEST_STATE,
    NOISE,
    PROBABILITY_BITS,
    PROBABILITY_SUM,
    TOKENS,
)
from assay.weights.codec.element_lanes import Elements
from assay.weights.codec.frequency_table import ESCAPED_AT, MEANING_AT, NOISE_AT, SHARE_AT
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
    function_of,
    gather,
    halves,
    joined,
    shifted,
    when_any,
)
from assay.weights.codec.tokens import DIRECT

_ADDRESS, _INT = types.uint64, types.int64
_ARGUMENTS = (*[_ADDRESS] * 6, _INT, _ADDRESS, _INT, _INT, _ADDRESS, *[_INT] * 7)
_NONE = all_lanes(I32, 0)
_LOW = all_lanes(I32, PROBABILITY_SUM - 1)


class _Words:
    """Words that all vectors take from, in turn."""

    def __init__(self, builder: Any, words: Any, place: Any) -> None:
        self.builder, self._words, self.place = builder, words, place

    def take(self, mask: Any) -> Any:
        """One for each lane of the mask; 0 in the others."""
        found = expand_words(self.builder, self._words, self.place, mask)
        self.place = self.builder.add(self.place, count(self.builder, mask))
        return found

    def refill(self, state: Any) -> Any:
        builder = self.builder
        empty = builder.icmp_unsigned("<", state, all_lanes(I32, LOWEST_STATE))
        more = self.take(empty)
        return builder.select(empty, builder.or_(builder.shl(state, all_lanes(I32, 16)), more), state)


def _residual(words: _Words, found: Any, state: Any, content: int) -> tuple[Any, Any]:
    """What a slot and the state say, and the state after; see `frequency_table.fill_decoder`."""
    builder = words.builder
    frequency = builder.lshr(found, all_lanes(I32, SHARE_AT))
    share = builder.mul(builder.lshr(state, all_lanes(I32, PROBABILITY_BITS)), frequency)
    state = builder.add(share, builder.and_(found, _LOW))
    head = builder.lshr(found, all_lanes(I32, MEANING_AT))
    if content != NOISE:
        return builder.and_(head, all_lanes(I32, 0xFF)), words.refill(state)
    head = builder.and_(head, all_lanes(I32, DIRECT - 1))
    # What is above the length is a multiple of 32, which a shift of pairs of numbers does not see.
    length = builder.lshr(found, all_lanes(I32, NOISE_AT))
    rest, turned = shifted(builder, "r", _NONE, state, length), shifted(builder, "r", state, state, length)
    return shifted(builder, "l", head, turned, length), words.refill(rest)


def _with_escapes(apart: _Words, most: Any, found: list[Any], residuals: list[Any]) -> list[Any]:
    """The residuals, those that are stored apart among them. Never more than `most` words are read."""
    builder = apart.builder
    flags = found[0]
    for slot in found[1:]:
        flags = builder.or_(flags, slot)

    def flagged(value: Any, bits: int) -> Any:
        return builder.icmp_unsigned("==", builder.and_(value, all_lanes(I32, bits)), all_lanes(I32, bits))

    def more() -> list[Any]:
        whole = []
        for slot, residual in zip(found, residuals, strict=True):
            function = function_of(builder, "llvm.smin.i64", I64, [I64, I64])
            apart.place = builder.call(function, [apart.place, most])
            escaped = flagged(slot, 1 << ESCAPED_AT)
            low = apart.take(escaped)
            high = builder.shl(apart.take(flagged(slot, (1 << ESCAPED_AT) | (1 << MEANING_AT))), all_lanes(I32, 16))
            whole.append(builder.select(escaped, builder.or_(low, high), residual))
        return [*whole, apart.place]

    *residuals, apart.place = when_any(builder, flagged(flags, 1 << ESCAPED_AT), [*residuals, apart.place], more)
    return residuals


def _decode_lanes(_numba: Any, builder: Any, signature: Any, given: Any) -> Any:
    width, content, planes, floats = (argument.literal_value for argument in signature.args[1:])
    arguments = unpack_tuple(builder, given[0])
    words_at, apart_at, slots, base, planes_at, out = (builder.inttoptr(a, POINTER) for a in arguments[:6])
    steps, limit, most_apart, stride = (arguments[i] for i in (6, 8, 9, 11))
    states_at, ends_at = (builder.inttoptr(arguments[i], POINTER) for i in (7, 10))
    elements = Elements(builder, width)
    exponent_at = arguments[12]
    field = [elements.splat(builder.shl(argument, exponent_at)) for argument in arguments[13:16]]
    # From where the exponent is to above the bits of a slot: down in 32 bits, up in fewer. Integers have none.
    way = (exponent_at, I64(PROBABILITY_BITS)) if width == 32 else (I64(PROBABILITY_BITS), exponent_at)
    by = elements.splat(builder.select(builder.icmp_signed(">", *way), builder.sub(*way), I64(0)))
    is_float = None if floats else elements.splat(builder.sub(I64(0), arguments[16]))
    xor = None if floats else builder.icmp_unsigned("!=", elements.splat(arguments[17]), elements.constant(0))
    loop = Loop(builder, steps, states_at, limit=limit)
    words, apart = _Words(builder, words_at, loop.place), _Words(builder, apart_at, loop.apart)
    together = elements.lanes // WIDTH
    leading = content == LEADING
    places, under, found = [], [], []
    for first in range(0, VECTORS, together):
        places.append(builder.add(builder.mul(loop.round, I64(LANES)), I64(WIDTH * first)))
        context = elements.constant(0)
        if not leading:
            under.append(elements.load(base, places[-1]))
            move = builder.lshr if width == 32 else builder.shl
            context = move(elements.context(under[-1], *field), by)
        for vector, part in enumerate(halves(builder, context, together), first):
            slot = builder.or_(part, builder.and_(loop.states[vector], _LOW))
            found.append(gather(builder, slots, slot, I32))
    pairs = [_residual(words, slot, state, content) for slot, state in zip(found, loop.states, strict=True)]
    residuals = [residual for residual, _ in pairs]
    if content == NOISE:
        residuals = _with_escapes(apart, most_apart, found, residuals)
    for number, place in enumerate(places):
        coded = joined(builder, residuals[number * together : (number + 1) * together])
        low = elements.load_planes(planes_at, place, stride, planes)
        if leading:
            value = elements.led(low, coded, is_float)
        else:
            residual = builder.or_(builder.shl(coded, elements.constant(8 * planes)), low)
            value = elements.undone(under[number], residual, is_float, xor)
        elements.store(value, out, place)
    return loop.end(words.place, apart.place, [state for _, state in pairs], ends_at)


@intrinsic(prefer_literal=True)
def _decode(typing, arguments, width, content, planes, floats):  # type: ignore[no-untyped-def]
    """A loop for each width of an element, kind of stream, and whether it holds differences of floats and no other."""
    return types.int64(arguments, width, content, planes, floats), _decode_lanes


@njit(types.int64(*_ARGUMENTS, _INT, _INT, _INT), nogil=True, cache=True)
def decode_lanes(  # type: ignore[no-untyped-def]
    words, apart, slots, base, low, out, steps, states, limit, most_apart, ends, stride, m, e, lo, hi, is_float, xor,
    width, content, planes,
):  # fmt: skip
    """Addresses in, the number of words read out. Stops before a round that begins beyond word `limit`.

    `base` may be `out`. At `apart` are `most_apart` words of escapes and room for a vector's more. At `low` are as many
    planes of low bytes, `stride` apart. At `ends` is left how many rounds there were and how many words of escapes.
    `m`, `e`, `lo`, `hi`: see `tokens.context_of`. What is common has a loop of its own.
    """
    everything = (words, apart, slots, base, low, out, steps, states, limit, most_apart, ends, stride)
    arguments = (*everything, m, e, lo, hi, is_float, xor)
    everyday = is_float and not xor
    if width == 8:
        return _decode(arguments, 8, TOKENS, 0, False)
    if width == 16:
        if content == LEADING:
            return _decode(arguments, 16, LEADING, 1, True) if everyday else _decode(arguments, 16, LEADING, 1, False)
        return _decode(arguments, 16, NOISE, 0, True) if everyday else _decode(arguments, 16, NOISE, 0, False)
    if content == LEADING:
        return _decode(arguments, 32, LEADING, 3, True) if everyday else _decode(arguments, 32, LEADING, 3, False)
    if planes == 2:
        return _decode(arguments, 32, NOISE, 2, True) if everyday else _decode(arguments, 32, NOISE, 2, False)
    if planes == 1:
        return _decode(arguments, 32, NOISE, 1, True) if everyday else _decode(arguments, 32, NOISE, 1, False)
    return _decode(arguments, 32, NOISE, 0, True) if everyday else _decode(arguments, 32, NOISE, 0, False)
