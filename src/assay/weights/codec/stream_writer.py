"""One chunk as a stream: header, states, tables, escapes, words, and planes of low bytes that are kept as they are.

Header: contexts, tables, which contexts begin a new table (2 bytes), the exponent below the window, what it consists
of (see `coder_state`, 4 bits), how many planes there are (3 bits) and whether escapes are wide, bytes of tables (2),
words (4), words of escapes (4). A small chunk has one state, any other 64 or, without noise, 128. A stream of fixed
lengths has these as its table, a byte for each of sixteen contexts, and its escapes among the words.
"""

from __future__ import annotations

import numba as nb
import numpy as np
from numba import njit, types

from assay.weights.codec.encode_lanes import difference_lanes, encode_lanes
from assay.weights.codec.escapes import MOST_WORDS, larger_than_not, put_escapes, put_noted_escapes
from assay.weights.codec.frequency_table import fill_encoder, normalise, share_tables, write_tables
from assay.weights.codec.scalar_lane import encode_lane
from assay.weights.codec.symbols import (
    MOST_CONTEXTS,
    RUN,
    RUNS,
    Window,
    field_of,
    fill_symbols,
    noise_planes,
    scratch,
    symbols_of,
)
from assay.weights.codec.tokens import ESCAPE, context_of, count_symbols, leading_zeros, residual_of
from assay.weights.codec.vector_operations import FIXED, LANES, LOWEST_STATE, MORE_LANES, MOST_FIXED, NOISE, TOKENS
from assay.weights.element_types import ElementType
from assay.weights.store import Tensor

HEADER_BYTES = 16
FEWEST_FOR_LANES = 4096
COUNTERS = 4
"""Tables that symbols are counted in, see `tokens.count_symbols`."""
_TABLE_BYTES = 600
_READ = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32)}
_WRITE = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C") for bits in (8, 16)}


def room_for(elements: int, planes: int) -> Tensor:
    """Memory for the longest stream there can be, with its planes of low bytes at the end."""
    # The most: each token spills a word and is an escape.
    most = HEADER_BYTES + 4 * MORE_LANES + _TABLE_BYTES * MOST_CONTEXTS + 8
    most += 2 * (1 + MOST_WORDS) * (elements + MORE_LANES)
    return scratch("stream", most + most % 2 + planes * elements, np.uint8)


def encode_symbols(
    symbols: Tensor, residuals: Tensor, window: Window, content: int, planes: int, room: Tensor
) -> Tensor:
    """The stream, with the planes that are at the end of `room`. With noise, only for a small chunk."""
    apart = scratch("apart", MOST_WORDS * symbols.size if content == NOISE else 0, np.uint16)
    begin = _encode(symbols, residuals, window.contexts, window.below, content, planes, apart, room)
    return room[begin:]


@njit(inline="always")
def _put(out, place, value, count):  # type: ignore[no-untyped-def]
    for i in range(count):
        out[place + i] = nb.uint8(nb.uint64(value) >> nb.uint64(8 * i))


@njit(nogil=True)
def put_head(head, states, tables, apart, room, first, words):  # type: ignore[no-untyped-def]
    """Writes all that comes before the words, which begin at word `first` of `room`; returns where the stream
    begins."""
    contexts, table_count, begins, below, kept = head
    apart_at = first - apart.shape[0]
    room[2 * apart_at : 2 * first].view(np.uint16)[:] = apart
    tables_at = 2 * apart_at - tables.shape[0]
    room[tables_at : 2 * apart_at] = tables
    begin = tables_at - 4 * states.shape[0] - HEADER_BYTES
    _put(room, begin, contexts, 1)
    _put(room, begin + 1, table_count, 1)
    _put(room, begin + 2, begins, 2)
    _put(room, begin + 4, below, 1)
    _put(room, begin + 5, kept, 1)
    _put(room, begin + 6, tables.shape[0], 2)
    _put(room, begin + 8, words, 4)
    _put(room, begin + 12, apart.shape[0], 4)
    for i in range(states.shape[0]):
        _put(room, begin + HEADER_BYTES + 4 * i, states[i], 4)
    return begin


@njit(nogil=True)
def tables_of(counted, every, contexts, coded):  # type: ignore[no-untyped-def]
    """Tables for symbols of which one in `every` was counted: ranges by symbol, the number of tables, which contexts
    begin a new one (a bit each), and the tables as bytes."""
    counts = np.zeros((contexts, 256), np.uint32)
    for i in range(contexts * 256):
        counts[i >> 8, i & 0xFF] = counted[0, i] + counted[1, i] + counted[2, i] + counted[3, i]
    table_of = np.zeros(contexts, np.uint8)
    tables = share_tables(counts, table_of)
    frequency = np.zeros((tables, 256), np.uint16)
    for table in range(tables):
        if every > 1:
            # A symbol that the sample does not have is coded as an escape: there must be a frequency for one.
            counts[table, ESCAPE] += 1
        normalise(counts[table], coded, frequency[table])
    ranges = np.zeros(contexts * 256, np.uint64)
    fill_encoder(frequency, table_of, coded, ranges)
    written = np.empty(tables * _TABLE_BYTES + 8, np.uint8)
    length = write_tables(frequency, tables, written)
    begins = 0
    for context in range(1, contexts):
        begins |= int(table_of[context] != table_of[context - 1]) << (context - 1)
    return ranges, tables, begins, written[:length]


@njit(nogil=True)
def _rounds(symbols, width, steps, ranges, words, end, states):  # type: ignore[no-untyped-def]
    """Codes rounds; returns where the words now begin. Takes arrays, not addresses, so that they live until it
    returns."""
    to = words.ctypes.data + nb.uint64(2 * end)
    return end + encode_lanes(symbols.ctypes.data, ranges.ctypes.data, to, steps, states.ctypes.data, width)


@njit(nogil=True)
def _encode_lanes(symbols, width, ranges, words, states):  # type: ignore[no-untyped-def]
    """Codes all symbols; returns where the words begin. A last round that is not full repeats its last symbol."""
    whole = symbols.shape[0] // MORE_LANES
    first = words.shape[0]
    if whole * MORE_LANES < symbols.shape[0]:
        last = np.empty(MORE_LANES, np.uint16)
        for i in range(MORE_LANES):
            last[i] = symbols[min(whole * MORE_LANES + i, symbols.shape[0] - 1)]
        first = _rounds(last, width, 1, ranges, words, first, states)
    return _rounds(symbols, width, whole, ranges, words, first, states)


@njit(
    [types.int64(_READ[16], _READ[b], *[types.int64] * 4, _WRITE[16], _WRITE[8]) for b in (8, 16, 32)],
    nogil=True,
    cache=True,
)
def _encode(symbols, residuals, contexts, below, content, planes, apart, room):  # type: ignore[no-untyped-def]
    """Fills `room` from its end, or from the planes there; returns where the stream begins."""
    coded = NOISE if content == NOISE else TOKENS
    counted = np.zeros((COUNTERS, contexts * 256), np.uint32)
    count_symbols(symbols, counted)
    ranges, tables, begins, written = tables_of(counted, 1, contexts, coded)
    end, escapes = (room.shape[0] - planes * symbols.shape[0]) // 2, 0
    words = room[: 2 * end].view(np.uint16)
    if symbols.shape[0] < FEWEST_FOR_LANES:
        first, state = encode_lane(symbols, residuals, ranges, words, end)
        escapes = put_escapes(symbols, residuals, ranges, apart) if coded == NOISE else 0
        states = np.full(1, state, np.uint32)
    else:
        states = np.full(MORE_LANES, LOWEST_STATE, np.uint32)
        first = _encode_lanes(symbols, 8 * residuals.itemsize, ranges, words, states)
    head = (contexts, tables, begins, below, content | (planes << 4))
    return put_head(head, states, written, apart[:escapes], room, first, end - first)


# Differences as a stream: what a chunk changes of its base.

_BLOCK = 2048
_COUNTED, _QUICKLY_COUNTED = 1 << 17, 1 << 15
"""About how many symbols of a larger chunk are counted: the frequencies of all would hardly differ."""
_PUT_DIFFERENCE = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C") for bits in (8, 16, 32, 64)}


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
    begin = _differ(bits, base, *field_of(kind, window), int(xor), planes, every, noted, apart, room)
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
def _turns(bits, base, low, table, words, end, noted, states, steps, stride, field, xor, content, planes):  # type: ignore[no-untyped-def]
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
        first = _turns(last_bits, last_base, last_low, table, words, first, noted[whole:], states, 1, LANES, *how)
        for plane in range(planes):
            begin = plane * size + whole * LANES
            low[begin : begin + rest] = last_low[plane * LANES : plane * LANES + rest]
    first = _turns(bits, base, low, table, words, first, noted, states, whole, size, *how)
    return first, end, last_bits, last_base


@njit(
    [
        types.int64(
            _READ[b], _READ[b], *[types.int64] * 7, _PUT_DIFFERENCE[64], _PUT_DIFFERENCE[16], _PUT_DIFFERENCE[8]
        )
        for b in (16, 32)
    ],
    nogil=True,
    cache=True,
)
def _differ(bits, base, mantissa, mask, below, last, xor, planes, every, noted, apart, room):  # type: ignore[no-untyped-def]
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


# A stream whose residuals have a fixed number of bits for each exponent of the base: no table to count or to look up.
#
# It takes about one bit per element more than the entropy coder, and a third of its time. If all bits are set, the
# residual did not fit and is the next word. The two low bytes of elements of 32 bits are kept apart, as planes.

_WORD = 16
_LOW_BYTES = {16: 0, 32: 2}
"""Low bytes that are kept apart as planes, by the bits of an element: what is left of a residual then fits a word."""
_FEWEST_BITS = 7.0
"""Fewest bits per element at which fixed lengths pay: one bit more is then at most a seventh."""
_SMALL = 0.5
"""Largest share of residuals that may lie wholly in the low bytes."""
_PUT_FIXED = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C") for bits in (8, 16, 32)}


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
    begin = _fixed(bits, base, *field_of(kind, window), planes, lengths, room)
    return room[begin:]


@njit(
    [types.UniTuple(types.float64, 2)(_READ[b], _READ[b], *[types.int64] * 5, _PUT_FIXED[8]) for b in (16, 32)],
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
    [types.int64(_READ[b], _READ[b], *[types.int64] * 5, _PUT_FIXED[8], _PUT_FIXED[8]) for b in (16, 32)],
    nogil=True,
    cache=True,
)
def _fixed(bits, base, mantissa, mask, below, last, planes, lengths, room):  # type: ignore[no-untyped-def]
    """Writes the stream to the end of `room`; returns where it begins."""
    by_context = np.zeros(64 // bits.itemsize, bits.dtype)
    for context in range(MOST_CONTEXTS):
        by_context[context] = lengths[context]
    states, none = np.full(LANES, LOWEST_STATE, np.uint32), np.empty(0, np.uint64)
    how = ((mantissa, mask, below, last), 0, FIXED, planes)
    first, end, _, _ = code_elements(bits, base, by_context, none, states, *how, room)
    head = (last + 1, 1, 0, below, FIXED | (planes << 4))
    return put_head(head, states, lengths, np.empty(0, np.uint16), room, first, end - first)
