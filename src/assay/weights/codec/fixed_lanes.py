"""From elements and their bases to words in one loop, backwards, where every context has a fixed number of bits."""

from __future__ import annotations

from typing import Any

from numba import njit, types
from numba.core.cgutils import unpack_tuple
from numba.extending import intrinsic

from assay.weights.codec.coder_state import LANES, STATE_BITS
from assay.weights.codec.element_lanes import Elements
from assay.weights.codec.encode_lanes import SpilledWords
from assay.weights.codec.lanes import I32, I64, POINTER, WIDTH, Loop, all_lanes, halves, looked_up

_ADDRESS, _INT = types.uint64, types.int64
_ARGUMENTS = (*[_ADDRESS] * 6, *[_INT] * 6)
LOW_BYTES = {16: 0, 32: 2}
"""Planes of low bytes below the residual, so that it fits a word."""


def _fixed_lanes(_numba: Any, builder: Any, signature: Any, given: Any) -> Any:
    width = signature.args[1].literal_value
    planes = LOW_BYTES[width]
    arguments = unpack_tuple(builder, given[0])
    bits, base, low, words_at, lengths_at, states_at = (builder.inttoptr(address, POINTER) for address in arguments[:6])
    steps, stride, exponent_at = arguments[6:9]
    elements = Elements(builder, width)
    field = [elements.splat(builder.shl(argument, exponent_at)) for argument in arguments[9:12]]
    lengths = elements.load(lengths_at, I64(0))
    loop = Loop(builder, LANES, steps, states_at)
    words = SpilledWords(builder, words_at, loop.place)
    turn = builder.sub(builder.sub(steps, I64(1)), loop.round)
    together = elements.lanes // WIDTH
    parts: list[tuple[Any, Any, Any]] = []
    for first in range(0, LANES // WIDTH, together):
        at = builder.add(builder.mul(turn, I64(LANES)), I64(WIDTH * first))
        under = elements.load(base, at)
        residual = elements.residual(elements.load(bits, at), under, None)
        elements.store_planes(residual, low, at, stride, planes)
        residual = builder.lshr(residual, elements.constant(8 * planes))
        index = builder.lshr(elements.context(under, *field), elements.splat(exponent_at))
        length = looked_up(builder, lengths, index)
        mask = builder.sub(builder.shl(elements.constant(1), length), elements.constant(1))
        parts += zip(*(halves(builder, value, together) for value in (residual, mask, length)), strict=True)
    states = list(loop.states)
    for vector in reversed(range(len(parts))):
        residual, mask, length = parts[vector]
        top = builder.lshr(states[vector], builder.sub(all_lanes(I32, STATE_BITS), length))
        state = words.spill(states[vector], builder.icmp_unsigned("!=", top, all_lanes(I32, 0)))
        escaped = builder.icmp_unsigned(">=", residual, mask)
        words.put(residual, escaped)
        kept = builder.select(escaped, mask, residual)
        states[vector] = builder.or_(builder.shl(state, length), kept)
    return loop.end(words.place, states)


@intrinsic(prefer_literal=True)
def _fixed(typing, arguments, width):  # type: ignore[no-untyped-def]
    return types.int64(arguments, width), _fixed_lanes


@njit(types.int64(*_ARGUMENTS, _INT), nogil=True, cache=True)
def fixed_lanes(bits, base, low, words, lengths, states, steps, stride, m, e, lo, hi, width):  # type: ignore[no-untyped-def]
    """Addresses in; minus the number of words written out, downwards from the address `words`. The low bytes of
    residuals of 32 bits go to `low`, by planes `stride` apart."""
    arguments = (bits, base, low, words, lengths, states, steps, stride, m, e, lo, hi)
    return _fixed(arguments, 16) if width == 16 else _fixed(arguments, 32)
