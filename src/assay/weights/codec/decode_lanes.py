"""Decodes words to bit patterns, in one loop over all lanes: context, token, noise, and the element they stand for.

Interleaving lanes over one stream of words, so that a vector unit advances all of them at once, is by Giesen
(arXiv:1402.3392). States are 32 bits wide; elements of 8 and 16 bits are worked on 32 at a time.
"""

from __future__ import annotations

from typing import Any

from numba import njit, types
from numba.core.cgutils import unpack_tuple
from numba.extending import intrinsic

from assay.weights.codec.frequency_table import ESCAPED_AT, MEANING_AT, NOISE_AT, SHARE_AT
from assay.weights.codec.tokens import DIRECT
from assay.weights.codec.vector_operations import (
    AHEAD,
    FIXED,
    I8,
    I16,
    I32,
    I64,
    LEADING,
    LOWEST_STATE,
    NOISE,
    POINTER,
    PROBABILITY_BITS,
    PROBABILITY_SUM,
    TOKENS,
    WIDTH,
    Elements,
    Loop,
    all_lanes,
    count,
    gather,
    halves,
    is_bit_set,
    join_halves,
    lanes_of,
    look_up,
    note,
    prefetch,
    refill,
    shift_pairs,
    with_words,
)

_ADDRESS, _INT = types.uint64, types.int64
_ARGUMENTS = (*[_ADDRESS] * 6, _INT, _ADDRESS, _INT, _ADDRESS, *[_INT] * 7)
_NONE = all_lanes(I32, 0)
_LOW = all_lanes(I32, PROBABILITY_SUM - 1)
_GROUP = 4
"""Vectors that go through a round together: more would not fit the registers."""


class _Words:
    """Words that all vectors take from, in turn."""

    def __init__(self, builder: Any, words: Any, place: Any) -> None:
        self.builder, self._words, self.place = builder, words, place

    def refill(self, state: Any) -> Any:
        empty = self.builder.icmp_unsigned("<", state, all_lanes(I32, LOWEST_STATE))
        state = refill(self.builder, self._words, self.place, empty, state)
        self.place = self.builder.add(self.place, count(self.builder, empty))
        return state

    def take(self, value: Any, mask: Any) -> Any:
        """The value with the next words put into the lanes of the mask, where it must be 0."""
        value = with_words(self.builder, self._words, self.place, mask, value)
        self.place = self.builder.add(self.place, count(self.builder, mask))
        return value


def _residual(words: _Words, found: Any, state: Any, content: int) -> tuple[Any, Any]:
    """The residual that slot and state stand for, and the next state; see `frequency_table.read_tables`."""
    builder = words.builder
    frequency = builder.lshr(found, all_lanes(I32, SHARE_AT))
    share = builder.mul(builder.lshr(state, all_lanes(I32, PROBABILITY_BITS)), frequency)
    state = builder.add(share, builder.and_(found, _LOW))
    head = builder.lshr(found, all_lanes(I32, MEANING_AT))
    if content != NOISE:
        return builder.and_(head, all_lanes(I32, 0xFF)), words.refill(state)
    head = builder.and_(head, all_lanes(I32, DIRECT - 1))
    # The bits above the length add a multiple of 32 to it, and a shift of pairs of numbers is modulo 32.
    length = builder.lshr(found, all_lanes(I32, NOISE_AT))
    rest, turned = shift_pairs(builder, "r", _NONE, state, length), shift_pairs(builder, "r", state, state, length)
    return shift_pairs(builder, "l", head, turned, length), words.refill(rest)


def _read_fixed(words: _Words, length: Any, state: Any) -> tuple[Any, Any]:
    """A residual of `length` bits, or the next word if those are all set; and the next state."""
    builder = words.builder
    mask = builder.sub(builder.shl(all_lanes(I32, 1), length), all_lanes(I32, 1))
    bits = builder.and_(state, mask)
    escaped = builder.icmp_unsigned("==", bits, mask)
    residual = words.take(builder.select(escaped, _NONE, bits), escaped)
    return residual, words.refill(builder.lshr(state, length))


def _decode_lanes(_numba: Any, builder: Any, signature: Any, given: Any) -> Any:
    width, content, planes, everyday = (argument.literal_value for argument in signature.args[1:])
    arguments = unpack_tuple(builder, given[0])
    words_at, notes, slots, base, planes_at, out = (builder.inttoptr(a, POINTER) for a in arguments[:6])
    steps, limit, stride, exponent_at = (arguments[i] for i in (6, 8, 10, 11))
    states_at, rounds_at = (builder.inttoptr(arguments[i], POINTER) for i in (7, 9))
    elements = Elements(builder, width)
    field = [elements.splat(builder.shl(argument, exponent_at)) for argument in arguments[12:15]]
    # Shift that moves the exponent above the bits of a slot: right for 32 bits, left for fewer. Integers have none.
    way = (exponent_at, I64(PROBABILITY_BITS)) if width == 32 else (I64(PROBABILITY_BITS), exponent_at)
    by = elements.splat(builder.select(builder.icmp_signed(">", *way), builder.sub(*way), I64(0)))
    is_float, xor = (None if everyday else elements.is_flag_set(argument) for argument in arguments[15:17])
    lanes = lanes_of.py_func(content)
    leading, fixed = content == LEADING, content == FIXED
    lengths = elements.load(slots, I64(0)) if fixed else None
    loop = Loop(builder, lanes, steps, states_at, limit=limit)
    words = _Words(builder, words_at, loop.place)
    together = elements.lanes // WIDTH
    states: list[Any] = []
    prefetch(builder, words_at, builder.add(loop.place, I64(AHEAD // 2)), 1, I16)
    done = builder.mul(loop.round, I64(lanes))
    for number in range(planes):
        begin = builder.add(builder.add(done, I64(AHEAD)), builder.mul(stride, I64(number)))
        prefetch(builder, planes_at, begin, lanes, I8)
    if not leading and width == 32:
        prefetch(builder, base, builder.add(done, I64(AHEAD // 4)), lanes, I32)
    for begin in range(0, lanes // WIDTH, _GROUP):
        before = loop.states[begin : begin + _GROUP]
        places, under, found = [], [], []
        for first in range(0, _GROUP, together):
            places.append(builder.add(builder.mul(loop.round, I64(lanes)), I64(WIDTH * (begin + first))))
            context = elements.constant(0)
            if not leading:
                under.append(elements.load(base, places[-1]))
                context = elements.context(under[-1], *field)
            if fixed:
                index = builder.lshr(context, elements.splat(exponent_at))
                found += halves(builder, look_up(builder, lengths, index), together)
                continue
            move = builder.lshr if width == 32 else builder.shl
            for vector, part in enumerate(halves(builder, move(context, by), together), first):
                slot = builder.or_(part, builder.and_(before[vector], _LOW))
                found.append(gather(builder, slots, slot, I32))
        residuals = []
        for vector, (slot, state) in enumerate(zip(found, before, strict=True), begin):
            residual, state = _read_fixed(words, slot, state) if fixed else _residual(words, slot, state, content)
            residuals.append(residual)
            states.append(state)
            if content == NOISE:
                place = builder.add(builder.mul(loop.round, I64(lanes // WIDTH)), I64(vector))
                note(builder, is_bit_set(builder, slot, ESCAPED_AT), notes, place)
        for number, place in enumerate(places):
            coded = join_halves(builder, residuals[number * together : (number + 1) * together])
            low = elements.load_planes(planes_at, place, stride, planes)
            if leading:
                value = elements.assemble(low, coded, is_float)
            else:
                residual = builder.or_(builder.shl(coded, elements.constant(8 * planes)), low)
                value = elements.undo_residual(under[number], residual, xor)
            elements.store(value, out, place)
    return loop.end(words.place, states, rounds_at)


@intrinsic(prefer_literal=True)
def _decode(typing, arguments, width, content, planes, everyday):  # type: ignore[no-untyped-def]
    """A loop for each width of an element and kind of stream. `everyday`: leading bytes of floats, or differences; its
    loop need not choose between floats and integers, or differences and XOR."""
    return types.int64(arguments, width, content, planes, everyday), _decode_lanes


@njit(types.int64(*_ARGUMENTS, _INT, _INT, _INT), nogil=True, cache=True)
def decode_lanes(  # type: ignore[no-untyped-def]
    words, notes, slots, base, low, out, steps, states, limit, rounds, stride, m, e, lo, hi, is_float, xor,
    width, content, planes,
):  # fmt: skip
    """Addresses in, the number of words read out. Stops before a round that begins beyond word `limit`.

    `base` may be `out`. `slots`: see `frequency_table.read_tables`; or, at fixed lengths, the length of each context,
    as elements. `notes` is set to which lanes had escapes, see `escapes`; `rounds` to how many rounds there were.
    `low`: `planes` planes of low bytes, `stride` bytes apart. `m`, `e`, `lo`, `hi`: see `tokens.context_of`.
    """
    everything = (words, notes, slots, base, low, out, steps, states, limit, rounds, stride)
    arguments = (*everything, m, e, lo, hi, is_float, xor)
    everyday = is_float if content == LEADING else not xor
    if content == FIXED:
        return _decode(arguments, 16, FIXED, 0, True) if width == 16 else _decode(arguments, 32, FIXED, 2, True)
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
