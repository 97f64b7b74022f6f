"""A stream whose residuals have a fixed number of bits for each exponent of the base: no table to count or to look up.

It takes about one bit per element more than the entropy coder, and a third of its time. If all bits are set, the
residual did not fit and is the next word. The two low bytes of elements of 32 bits are kept apart, as planes.
"""

from __future__ import annotations

import numba as nb
import numpy as np
from numba import njit, types

from assay.weights.codec.lanes.coder_state import FIXED, LANES, LOWEST_STATE, MOST_FIXED
from assay.weights.codec.streams.difference_writer import code_elements
from assay.weights.codec.streams.stream_writer import FEWEST_FOR_LANES, put_head, room_for
from assay.weights.codec.streams.window import MOST_CONTEXTS, RUN, RUNS, Window
from assay.weights.codec.symbols import field_of
from assay.weights.codec.tokens import context_of, leading_zeros, residual_of
from assay.weights.dtype import ElementType
from assay.weights.store import Tensor

_WORD = 16
_LOW_BYTES = {16: 0, 32: 2}
"""Low bytes that are kept apart as planes, by the bits of an element: what is left of a residual then fits a word."""
_FEWEST_BITS = 7.0
"""Fewest bits per element at which fixed lengths pay: one bit more is then at most a seventh."""
_SMALL = 0.5
"""Largest share of residuals that may lie wholly in the low bytes."""
_READ = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32)}
_WRITE = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C") for bits in (8, 16, 32)}


def choose_lengths(bits: Tensor, base: Tensor, kind: ElementType, window: Window) -> Tensor | None:
    """Bits that each context gets, from a sample; None where coding tokens would be much smaller."""
    if kind.bits not in _LOW_BYTES or bits.size < FEWEST_FOR_LANES:
        return None
    lengths = np.zeros(MOST_CONTEXTS, np.uint8)
    cost, small = _lengths(bits, base, *field_of(kind, window), _LOW_BYTES[kind.bits], lengths)
    return lengths if cost >= _FEWEST_BITS and small <= _SMALL else None


def encode_fixed(bits: Tensor, base: Tensor, kind: ElementType, window: Window, lengths: Tensor) -> Tensor:
    """The stream's bytes, good until this thread codes the next stream."""
    planes = _LOW_BYTES[kind.bits]
    room = room_for(bits.size, planes)
    begin = _encode(bits, base, *field_of(kind, window), planes, lengths, room)
    return room[begin:]


@njit(
    [types.UniTuple(types.float64, 2)(_READ[b], _READ[b], *[types.int64] * 5, _WRITE[8]) for b in (16, 32)],
    nogil=True,
    cache=True,
)
def _lengths(bits, base, mantissa, mask, below, last, planes, lengths):  # type: ignore[no-untyped-def]
    """Fills `lengths` from a sample; returns the bits per element, and the share of residuals that lie wholly in the
    planes below."""
    counts = np.zeros((MOST_CONTEXTS, _WORD + 2), np.int64)
    size, width = bits.shape[0], bits.itemsize * 8
    runs = RUNS if size > RUNS * RUN else 1
    length, taken = RUN if runs > 1 else size, 0
    for run in range(runs):
        start = (size - length) * run // max(1, runs - 1)
        for i in range(start, start + length):
            b = nb.uint32(base[i])
            residual = residual_of(nb.uint32(bits[i]), b, width, 0) >> nb.uint32(8 * planes)
            context = context_of(b, nb.uint32(mantissa), nb.uint32(mask), nb.uint32(below), nb.uint32(last))
            # Bits that the residual needs if the largest value, all bits set, is to stay free for escapes.
            counts[context, nb.uint32(32) - leading_zeros(residual + nb.uint32(1))] += 1
            taken += 1
    total, small = 0, counts[:, 1].sum() if planes else 0
    for context in range(last + 1):
        all_of, within, least = 0, 0, nb.int64(1) << nb.int64(62)
        for needed in range(_WORD + 2):
            all_of += counts[context, needed]
        for given in range(MOST_FIXED + 1):
            within += counts[context, given]
            cost = all_of * given + (all_of - within) * _WORD
            if cost < least:
                least = cost
                lengths[context] = given
        total += least
    return 8 * planes + total / taken, small / taken


@njit(
    [types.int64(_READ[b], _READ[b], *[types.int64] * 5, _WRITE[8], _WRITE[8]) for b in (16, 32)],
    nogil=True,
    cache=True,
)
def _encode(bits, base, mantissa, mask, below, last, planes, lengths, room):  # type: ignore[no-untyped-def]
    """Writes the stream to the end of `room`; returns where it begins."""
    by_context = np.zeros(64 // bits.itemsize, bits.dtype)
    for context in range(MOST_CONTEXTS):
        by_context[context] = lengths[context]
    states, none = np.full(LANES, LOWEST_STATE, np.uint32), np.empty(0, np.uint64)
    how = ((mantissa, mask, below, last), 0, FIXED, planes)
    first, end, _, _ = code_elements(bits, base, by_context, none, states, *how, room)
    head = (last + 1, 1, 0, below, FIXED | (planes << 4))
    return put_head(head, states, lengths, np.empty(0, np.uint16), room, first, end - first)
