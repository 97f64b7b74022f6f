"""Differences as a stream: what a chunk changes of its base."""

from __future__ import annotations

import numba as nb
import numpy as np
from numba import njit, types

from assay.weights.codec.escapes import MOST_WORDS, larger_than_not, put_noted_escapes
from assay.weights.codec.lanes.coder_state import LANES, LOWEST_STATE, NOISE, TOKENS
from assay.weights.codec.lanes.difference_lanes import difference_lanes
from assay.weights.codec.streams.scratch import scratch
from assay.weights.codec.streams.stream_writer import (
    COUNTERS,
    FEWEST_FOR_LANES,
    encode_symbols,
    put_head,
    room_for,
    tables_of,
)
from assay.weights.codec.streams.window import Window
from assay.weights.codec.symbols import field_of, fill_symbols, noise_planes, symbols_of
from assay.weights.codec.tokens import count_symbols
from assay.weights.dtype import ElementType
from assay.weights.store import Tensor

_BLOCK = 2048
_COUNTED, _QUICKLY_COUNTED = 1 << 17, 1 << 15
"""About how many symbols of a larger chunk are counted: the frequencies of all would hardly differ."""
_READ = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32)}
_WRITE = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C") for bits in (8, 16, 32, 64)}


def encode_difference(
    bits: Tensor, base: Tensor, kind: ElementType, window: Window, xor: bool, quick: bool = False
) -> Tensor:
    """The stream's bytes, good until this thread codes the next. `quick`: counts fewer symbols, a little larger."""
    planes = noise_planes(bits, base, kind, xor)
    room = room_for(bits.size, planes)
    if kind.bits == 8 or bits.size < FEWEST_FOR_LANES:
        symbols, residuals = symbols_of(bits, base, kind, window, xor, room[room.size - planes * bits.size :])
        return encode_symbols(symbols, residuals, window, TOKENS if kind.bits == 8 else NOISE, planes, room)
    every = max(1, bits.size // (_QUICKLY_COUNTED if quick else _COUNTED))
    rounds = bits.size // LANES + 1
    apart, noted = scratch("apart", MOST_WORDS * LANES * rounds, np.uint16), scratch("noted", rounds, np.uint64)
    begin = _encode(bits, base, *field_of(kind, window), int(xor), planes, every, noted, apart, room)
    return room[begin:]


@njit(nogil=True)
def _count_symbols(bits, base, field, xor, planes, every):  # type: ignore[no-untyped-def]
    """Counts of symbols, from one block of elements out of every `every`."""
    counts = np.zeros((COUNTERS, (field[3] + 1) * 256), np.uint32)
    symbols, residuals = np.empty(_BLOCK, np.uint16), np.empty(_BLOCK, bits.dtype)
    low = np.empty(_BLOCK * planes, np.uint8)
    for begin in range(0, bits.shape[0], _BLOCK * every):
        size = min(_BLOCK, bits.shape[0] - begin)
        block, under = bits[begin : begin + size], base[begin : begin + size]
        fill_symbols(block, under, *field, xor, low[: planes * size], residuals[:size], symbols[:size])
        count_symbols(symbols[:size], counts)
    return counts


@njit(nogil=True)
def _rounds(bits, base, low, table, words, end, noted, states, steps, stride, field, xor, content, planes):  # type: ignore[no-untyped-def]
    """Codes rounds; returns where the words now begin. Takes arrays, not addresses, so that they live until it
    returns."""
    sources = (bits.ctypes.data, base.ctypes.data, low.ctypes.data, table.ctypes.data)
    to = (words.ctypes.data + nb.uint64(2 * end), noted.ctypes.data, states.ctypes.data)
    return end + difference_lanes(*sources, *to, steps, stride, *field, xor, bits.itemsize * 8, content, planes)


@njit(nogil=True)
def code_elements(bits, base, table, noted, states, field, xor, content, planes, room):  # type: ignore[no-untyped-def]
    """Fills `room` from its end. Returns where in it the words begin and end, and the elements and bases of the last
    round; a round that is not full repeats its last element."""
    size, whole = bits.shape[0], bits.shape[0] // LANES
    rest = size - whole * LANES
    end = (room.shape[0] - planes * size) // 2
    words, low = room[: 2 * end].view(np.uint16), room[room.shape[0] - planes * size :]
    first, how = end, (field, xor, content, planes)
    last_bits, last_base = np.empty(LANES, bits.dtype), np.empty(LANES, bits.dtype)
    if rest:
        last_low = np.empty(LANES * planes + 1, np.uint8)
        for i in range(LANES):
            at = min(whole * LANES + i, size - 1)
            last_bits[i], last_base[i] = bits[at], base[at]
        first = _rounds(last_bits, last_base, last_low, table, words, first, noted[whole:], states, 1, LANES, *how)
        for plane in range(planes):
            begin = plane * size + whole * LANES
            low[begin : begin + rest] = last_low[plane * LANES : plane * LANES + rest]
    first = _rounds(bits, base, low, table, words, first, noted, states, whole, size, *how)
    return first, end, last_bits, last_base


@njit(
    [types.int64(_READ[b], _READ[b], *[types.int64] * 7, _WRITE[64], _WRITE[16], _WRITE[8]) for b in (16, 32)],
    nogil=True,
    cache=True,
)
def _encode(bits, base, mantissa, mask, below, last, xor, planes, every, noted, apart, room):  # type: ignore[no-untyped-def]
    """Writes the stream to the end of `room`; returns where it begins."""
    field = (mantissa, mask, below, last)
    ranges, tables, begins, written = tables_of(
        _count_symbols(bits, base, field, xor, planes, every), every, last + 1, NOISE
    )
    states = np.full(LANES, LOWEST_STATE, np.uint32)
    how = (field, xor, NOISE, planes)
    first, end, last_bits, last_base = code_elements(bits, base, ranges, noted, states, *how, room)
    whole = bits.shape[0] // LANES
    noted, last_noted = noted[:whole], noted[whole : (bits.shape[0] + LANES - 1) // LANES]
    wide = larger_than_not(noted, bits, base, planes, xor)
    wide += larger_than_not(last_noted, last_bits, last_base, planes, xor)
    escapes = put_noted_escapes(noted, bits, base, planes, xor, apart, 0, wide > 0)
    escapes = put_noted_escapes(last_noted, last_bits, last_base, planes, xor, apart, escapes, wide > 0)
    head = (last + 1, tables, begins, below, NOISE | (planes << 4) | (int(wide > 0) << 7))
    return put_head(head, states, written, apart[:escapes], room, first, end - first)
