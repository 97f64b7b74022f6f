"""Codes elements and their bases as words, in one loop over all lanes, backwards: residual, context, and their code."""

from __future__ import annotations

from typing import Any

from numba import njit, types
from numba.core.cgutils import unpack_tuple
from numba.extending import intrinsic

from assay.weights.codec.frequency_table import ENCODER_ESCAPED_AT
from assay.weights.codec.lanes.coder_state import FIXED, LANES, NOISE, STATE_BITS
from assay.weights.codec.lanes.element_lanes import Elements
from assay.weights.codec.lanes.encode_lanes import SpilledWords, found_in, with_symbol
from assay.weights.codec.lanes.lanes import (
    AHEAD,
    ELEMENTS,
    I32,
    I64,
    POINTER,
    WIDTH,
    Loop,
    all_lanes,
    halves,
    is_bit_set,
    look_up,
    note,
    prefetch,
)

_ADDRESS, _INT = types.uint64, types.int64
_ARGUMENTS = (*[_ADDRESS] * 7, *[_INT] * 7)
_ONE = all_lanes(I32, 1)


def _difference_lanes(_numba: Any, builder: Any, signature: Any, given: Any) -> Any:
    width, content, planes, may_be_xor = (argument.literal_value for argument in signature.args[1:])
    arguments = unpack_tuple(builder, given[0])
    bits, base, low, table, words_at, notes, states_at = (builder.inttoptr(a, POINTER) for a in arguments[:7])
    steps, stride, exponent_at = arguments[7:10]
    elements = Elements(builder, width)
    field = [elements.splat(builder.shl(argument, exponent_at)) for argument in arguments[10:13]]
    xor = elements.is_flag_set(arguments[13]) if may_be_xor else None
    lengths = elements.load(table, I64(0)) if content == FIXED else None
    loop = Loop(builder, LANES, steps, states_at)
    words = SpilledWords(builder, words_at, loop.place)
    turn = builder.sub(builder.sub(steps, I64(1)), loop.round)
    together = elements.lanes // WIDTH
    ahead = builder.sub(builder.mul(turn, I64(LANES)), I64(AHEAD * 8 // width))
    for source in (bits, base):
        prefetch(builder, source, ahead, LANES, ELEMENTS[width])
    codes: list[Any] = []
    residuals: list[Any] = []
    for first in range(0, LANES // WIDTH, together):
        at = builder.add(builder.mul(turn, I64(LANES)), I64(WIDTH * first))
        under = elements.load(base, at)
        residual = elements.residual(elements.load(bits, at), under, xor)
        elements.store_planes(residual, low, at, stride, planes)
        residual = builder.lshr(residual, elements.constant(8 * planes))
        code = builder.lshr(elements.context(under, *field), elements.splat(exponent_at))
        if content == FIXED:
            code = look_up(builder, lengths, code)
        else:
            code = builder.or_(builder.shl(code, elements.constant(8)), elements.token(residual))
        codes += halves(builder, code, together)
        residuals += halves(builder, residual, together)
    states = list(loop.states)
    if content == FIXED:
        for v in reversed(range(len(states))):
            states[v] = _with_bits(words, states[v], codes[v], residuals[v])
        return loop.end(words.place, states)
    found = [found_in(builder, table, code) for code in codes]
    for v, (_, span) in enumerate(found):
        place = builder.add(builder.mul(turn, I64(LANES // WIDTH)), I64(v))
        note(builder, is_bit_set(builder, span, ENCODER_ESCAPED_AT), notes, place)
    for v in reversed(range(len(states))):
        states[v] = with_symbol(words, states[v], *found[v], residuals[v])
    return loop.end(words.place, states)


def _with_bits(words: SpilledWords, state: Any, length: Any, residual: Any) -> Any:
    """The state with `length` more bits: the residual; or, if it does not fit, all bits set and the residual as a
    word."""
    builder = words.builder
    top = builder.lshr(state, builder.sub(all_lanes(I32, STATE_BITS), length))
    state = words.spill(state, builder.icmp_unsigned("!=", top, all_lanes(I32, 0)))
    mask = builder.sub(builder.shl(_ONE, length), _ONE)
    escaped = builder.icmp_unsigned(">=", residual, mask)
    words.put(residual, escaped)
    return builder.or_(builder.shl(state, length), builder.select(escaped, mask, residual))


@intrinsic(prefer_literal=True)
def _encode(typing, arguments, width, content, planes, may_be_xor):  # type: ignore[no-untyped-def]
    return types.int64(arguments, width, content, planes, may_be_xor), _difference_lanes


@njit(types.int64(*_ARGUMENTS, _INT, _INT, _INT), nogil=True, cache=True)
def difference_lanes(  # type: ignore[no-untyped-def]
    bits, base, low, table, words, notes, states, steps, stride, m, e, lo, hi, xor, width, content, planes
):
    """Addresses in, minus the number of words out, which are written downwards from the address `words`.

    The `planes` lowest bytes of the residuals go to `low`, a plane each, `stride` bytes apart. What is above them is
    coded by `table`: ranges, see `frequency_table.fill_encoder`; or, at fixed lengths, the length of each context, as
    elements. `notes` is set to which lanes had escapes, see `escapes`. `m`, `e`, `lo`, `hi`: see `tokens.context_of`.
    """
    arguments = (bits, base, low, table, words, notes, states, steps, stride, m, e, lo, hi, xor)
    if content == FIXED:
        return _encode(arguments, 16, FIXED, 0, False) if width == 16 else _encode(arguments, 32, FIXED, 2, False)
    if width == 16:
        return _encode(arguments, 16, NOISE, 0, True) if xor else _encode(arguments, 16, NOISE, 0, False)
    if planes == 2:
        return _encode(arguments, 32, NOISE, 2, True) if xor else _encode(arguments, 32, NOISE, 2, False)
    if planes == 1:
        return _encode(arguments, 32, NOISE, 1, True) if xor else _encode(arguments, 32, NOISE, 1, False)
    return _encode(arguments, 32, NOISE, 0, True) if xor else _encode(arguments, 32, NOISE, 0, False)
