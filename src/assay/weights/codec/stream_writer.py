"""One chunk as a stream: header, states, tables, escapes, words, and planes of low bytes that are kept as they are.

Header: contexts, tables, which contexts begin a new table (2 bytes), the exponent below the window, what it consists
of (see `coder_state`, 4 bits), how many planes there are (3 bits) and whether escapes are wide, bytes of tables (2),
words (4), words of escapes (4). A small chunk has one state, any other 64 or, without noise, 128.
"""

from __future__ import annotations

import numba as nb
import numpy as np
from numba import njit, types

from assay.weights.codec.coder_state import LANES, LOWEST_STATE, MORE_LANES, NOISE, TOKENS, lanes_of
from assay.weights.codec.encode_lanes import encode_lanes
from assay.weights.codec.escapes import MOST_WORDS, larger_than_not, put_escapes, put_noted
from assay.weights.codec.frequency_table import fill_encoder, normalise, share_tables, write_tables
from assay.weights.codec.scalar_lane import encode_lane
from assay.weights.codec.scratch import scratch
from assay.weights.codec.symbol_lanes import symbol_lanes
from assay.weights.codec.tokens import ESCAPE, context_of, count_symbols, residual_of, token_of
from assay.weights.codec.window import MOST_CONTEXTS, Window
from assay.weights.dtype import ElementType
from assay.weights.store import Tensor

HEADER_BYTES = 16
FEWEST_FOR_LANES = 4096
_TABLE_BYTES = 600
_COUNTED, _QUICKLY_COUNTED = 1 << 17, 1 << 15
"""Of more symbols only about so many are counted: their frequencies would hardly differ."""
_GLANCE = 1024
_SMALL = 0.12
"""The share of residuals that may be below the low bytes which are kept as they are."""
_READ = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32)}
_WRITE = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C") for bits in (8, 16, 32, 64)}


def encode_stream(
    bits: Tensor, base: Tensor, kind: ElementType, window: Window, xor: bool, quick: bool = False
) -> Tensor:
    """Bytes, good until this thread codes the next stream. Quick: a little larger, for fewer symbols counted."""
    planes = noise_planes(bits, base, kind, xor)
    room = room_for(bits.size, planes)
    low = room[room.size - planes * bits.size :]
    symbols, residuals = symbols_of(bits, base, kind, window, xor, low)
    content = TOKENS if kind.bits == 8 else NOISE
    counted = _QUICKLY_COUNTED if quick else _COUNTED
    return encode_symbols(symbols, residuals, window, content, planes, room, counted)


def noise_planes(bits: Tensor, base: Tensor, kind: ElementType, xor: bool) -> int:
    """How many low bytes of the residuals are so small a part of them that coding them would gain nothing."""
    if kind.bits < 32:
        return 0
    return int(_noise_planes(bits, base, int(xor)))


@njit(types.int64(_READ[32], _READ[32], types.int64), nogil=True, cache=True)
def _noise_planes(bits, base, xor):  # type: ignore[no-untyped-def]
    step = max(1, bits.shape[0] // _GLANCE)
    taken, below_8, below_16 = 0, 0, 0
    for i in range(0, bits.shape[0], step):
        residual = residual_of(bits[i], base[i], 32, xor)
        taken += 1
        below_8 += residual < 1 << 8
        below_16 += residual < 1 << 16
    if below_16 <= _SMALL * taken:
        return 2
    return 1 if below_8 <= _SMALL * taken else 0


def symbols_of(
    bits: Tensor, base: Tensor, kind: ElementType, window: Window, xor: bool, low: Tensor
) -> tuple[Tensor, Tensor]:
    """Symbols and residuals, good until this thread codes the next stream; of what is above the bytes for which there
    is room in `low`."""
    symbols, residuals = scratch("symbols", bits.size, np.uint16), scratch("residuals", bits.size, bits.dtype)
    field = (kind.mantissa, (1 << kind.exponent) - 1, window.below, window.contexts - 1)
    _symbols(bits, base, *field, int(xor), low, residuals, symbols)
    return symbols, residuals


def room_for(elements: int, planes: int) -> Tensor:
    """For the longest stream there can be, the planes of low bytes at its end."""
    # Each token may spill a word, and be an escape.
    most = HEADER_BYTES + 4 * MORE_LANES + _TABLE_BYTES * MOST_CONTEXTS + 8
    most += 2 * (1 + MOST_WORDS) * (elements + MORE_LANES)
    return scratch("stream", most + most % 2 + planes * elements, np.uint8)


def encode_symbols(
    symbols: Tensor, residuals: Tensor, window: Window, content: int, planes: int, room: Tensor, counted: int = 0
) -> Tensor:
    """The stream, with the planes that are at the end of `room`; 0: every symbol is counted."""
    noisy = symbols.size + LANES if content == NOISE else 0
    apart, noted = scratch("apart", MOST_WORDS * noisy, np.uint16), scratch("noted", noisy // LANES, np.uint64)
    every = max(1, symbols.size // counted) if counted and content == NOISE else 1
    begin = _encode(symbols, residuals, window.contexts, window.below, content, planes, every, noted, apart, room)
    return room[begin:]


@njit(
    [types.void(_READ[b], _READ[b], *[types.int64] * 5, _WRITE[8], _WRITE[b], _WRITE[16]) for b in (8, 16, 32)],
    nogil=True,
    cache=True,
)
def _symbols(bits, base, mantissa, mask, below, last, xor, low, residuals, symbols):  # type: ignore[no-untyped-def]
    width, field = bits.itemsize * 8, (mantissa, mask, below, last)
    to = (residuals.ctypes.data, symbols.ctypes.data, low.ctypes.data)
    size = bits.shape[0]
    planes = low.shape[0] // max(1, size)
    done = symbol_lanes(bits.ctypes.data, base.ctypes.data, *to, size, size, *field, xor, width, planes)
    for i in range(done, size):
        b = nb.uint32(base[i])
        residual = residual_of(nb.uint32(bits[i]), b, width, xor)
        for plane in range(planes):
            low[plane * size + i] = nb.uint8(residual >> nb.uint32(8 * plane))
        residual >>= nb.uint32(8 * planes)
        context = context_of(b, nb.uint32(mantissa), nb.uint32(mask), nb.uint32(below), nb.uint32(last))
        residuals[i] = residual
        symbols[i] = nb.uint16((context << nb.uint32(8)) | token_of(residual, width))


@njit(inline="always")
def _put(out, place, value, count):  # type: ignore[no-untyped-def]
    for i in range(count):
        out[place + i] = nb.uint8(nb.uint64(value) >> nb.uint64(8 * i))


@njit(nogil=True)
def put_head(head, states, tables, apart, room, first, words):  # type: ignore[no-untyped-def]
    """Everything before the words, which begin at word `first` of the room; where the stream begins in it."""
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
def _rounds(symbols, residuals, steps, ranges, words, end, noted, states, content):  # type: ignore[no-untyped-def]
    """Where the words now begin. A function of arrays: they live until it returns."""
    sources = (symbols.ctypes.data, residuals.ctypes.data, ranges.ctypes.data)
    to = (words.ctypes.data + nb.uint64(2 * end), noted.ctypes.data)
    return end + encode_lanes(*sources, *to, steps, states.ctypes.data, residuals.itemsize * 8, content)


@njit(nogil=True)
def _encode_lanes(symbols, residuals, ranges, words, noted, apart, states, content):  # type: ignore[no-untyped-def]
    """Where the words begin, how many words of escapes there are, and whether they are wide. The last round is made
    whole by more of its last symbol."""
    lanes = lanes_of(content)
    whole = symbols.shape[0] // lanes
    first = words.shape[0]
    last_symbols, last_residuals = np.empty(lanes, np.uint16), np.empty(lanes, residuals.dtype)
    rest = whole * lanes < symbols.shape[0]
    if rest:
        for i in range(lanes):
            at = min(whole * lanes + i, symbols.shape[0] - 1)
            last_symbols[i], last_residuals[i] = symbols[at], residuals[at]
        first = _rounds(last_symbols, last_residuals, 1, ranges, words, first, noted[whole:], states, content)
    first = _rounds(symbols, residuals, whole, ranges, words, first, noted, states, content)
    if content != NOISE:
        return first, 0, False
    noted, last_noted = noted[:whole], noted[whole : whole + int(rest)]
    wide = larger_than_not(noted, residuals) + larger_than_not(last_noted, last_residuals) > 0
    escapes = put_noted(noted, residuals, apart, 0, wide)
    return first, put_noted(last_noted, last_residuals, apart, escapes, wide), wide


@njit(
    [types.int64(_READ[16], _READ[b], *[types.int64] * 5, _WRITE[64], _WRITE[16], _WRITE[8]) for b in (8, 16, 32)],
    nogil=True,
    cache=True,
)
def _encode(symbols, residuals, contexts, below, content, planes, every, noted, apart, room):  # type: ignore[no-untyped-def]
    """Fills `room` from its end, or from the planes there; where the stream begins in it."""
    coded = NOISE if content == NOISE else TOKENS
    counted = np.zeros((4, contexts * 256), np.uint32)
    count_symbols(symbols, every, counted)
    counts = np.zeros((contexts, 256), np.uint32)
    for i in range(contexts * 256):
        counts[i >> 8, i & 0xFF] = counted[0, i] + counted[1, i] + counted[2, i] + counted[3, i]
    table_of = np.zeros(contexts, np.uint8)
    tables = share_tables(counts, table_of)
    frequency = np.zeros((tables, 256), np.uint16)
    for table in range(tables):
        if every > 1:
            # What was not seen is an escape.
            counts[table, ESCAPE] += 1
        normalise(counts[table], coded, frequency[table])
    ranges = np.zeros(contexts * 256, np.uint64)
    fill_encoder(frequency, table_of, coded, ranges)

    end = (room.shape[0] - planes * symbols.shape[0]) // 2
    words = room[: 2 * end].view(np.uint16)
    if symbols.shape[0] < FEWEST_FOR_LANES:
        wide = False
        first, state = encode_lane(symbols, residuals, ranges, words, end)
        escapes = put_escapes(symbols, residuals, ranges, apart) if coded == NOISE else 0
        states = np.full(1, state, np.uint32)
    else:
        states = np.full(lanes_of(coded), LOWEST_STATE, np.uint32)
        first, escapes, wide = _encode_lanes(symbols, residuals, ranges, words, noted, apart, states, coded)
    written = np.empty(tables * _TABLE_BYTES + 8, np.uint8)
    table_bytes = write_tables(frequency, tables, written)
    begins = 0
    for context in range(1, contexts):
        begins |= int(table_of[context] != table_of[context - 1]) << (context - 1)
    head = (contexts, tables, begins, below, content | (planes << 4) | (int(wide) << 7))
    return put_head(head, states, written[:table_bytes], apart[:escapes], room, first, end - first)
