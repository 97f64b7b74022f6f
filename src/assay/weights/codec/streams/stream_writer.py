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

from assay.weights.codec.escapes import MOST_WORDS, put_escapes
from assay.weights.codec.frequency_table import fill_encoder, normalise, share_tables, write_tables
from assay.weights.codec.lanes.coder_state import LOWEST_STATE, MORE_LANES, NOISE, TOKENS
from assay.weights.codec.lanes.encode_lanes import encode_lanes
from assay.weights.codec.lanes.scalar_lane import encode_lane
from assay.weights.codec.streams.scratch import scratch
from assay.weights.codec.streams.window import MOST_CONTEXTS, Window
from assay.weights.codec.tokens import ESCAPE, count_symbols
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
