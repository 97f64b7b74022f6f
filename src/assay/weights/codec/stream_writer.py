"""One chunk as a stream: header, states, tables, words.

Header: contexts, tables, which contexts begin a new table (2 bytes), the exponent below the window, what it consists
of (see `decode_lanes`), bytes of tables (2), words (4). A small chunk has one state, any other 64.
"""

from __future__ import annotations

import numba as nb
import numpy as np
from numba import njit, types

from assay.weights.codec.coder_state import LOWEST_STATE
from assay.weights.codec.decode_lanes import MUCH_NOISE, SOME_NOISE, TOKENS
from assay.weights.codec.encode_lanes import encode_lanes
from assay.weights.codec.frequency_table import fill_encoder, normalise, share_tables, write_tables
from assay.weights.codec.lanes import LANES
from assay.weights.codec.scalar_lane import encode_lane
from assay.weights.codec.scratch import scratch
from assay.weights.codec.symbol_lanes import symbol_lanes
from assay.weights.codec.tokens import DIRECT_BITS, context_of, count_symbols, residual_of, token_of
from assay.weights.codec.window import MOST_CONTEXTS, Window
from assay.weights.dtype import ElementType
from assay.weights.store import Tensor

HEADER_BYTES = 12
FEWEST_FOR_LANES = 4096
_TABLE_BYTES = 600
_MUCH = 1 / 32
"""With more tokens that carry noise than that, one of 16 lanes has some too often to be foreseen."""
_READ = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32)}
_WRITE = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C") for bits in (8, 16, 32)}


def encode_stream(bits: Tensor, base: Tensor, kind: ElementType, window: Window, xor: bool) -> Tensor:
    """Bytes, good until this thread codes the next stream."""
    symbols, residuals = symbols_of(bits, base, kind, window, xor)
    return encode_symbols(symbols, residuals, window, DIRECT_BITS[kind.bits], noise=kind.bits > 8)


def symbols_of(bits: Tensor, base: Tensor, kind: ElementType, window: Window, xor: bool) -> tuple[Tensor, Tensor]:
    """Symbols and residuals, good until this thread codes the next stream."""
    symbols, residuals = scratch("symbols", bits.size, np.uint16), scratch("residuals", bits.size, bits.dtype)
    field = (kind.mantissa, (1 << kind.exponent) - 1, window.below, window.contexts - 1)
    _symbols(bits, base, *field, int(kind.exponent > 0), int(xor), DIRECT_BITS[kind.bits], residuals, symbols)
    return symbols, residuals


def encode_symbols(
    symbols: Tensor, residuals: Tensor, window: Window, direct: int, noise: bool, before: int = 0
) -> Tensor:
    """The stream, and before it room for that many bytes."""
    # Each token and each push of noise may spill a word.
    words = (1 + (residuals.itemsize // 2 if noise else 0)) * (symbols.size + LANES)
    most = HEADER_BYTES + 4 * LANES + _TABLE_BYTES * MOST_CONTEXTS + 8 + 2 * words
    room = scratch("stream", before + before % 2 + most, np.uint8)
    return room[_encode(symbols, residuals, window.contexts, window.below, direct, int(noise), room) - before :]


@njit(
    [types.void(_READ[b], _READ[b], *[types.int64] * 7, _WRITE[b], _WRITE[16]) for b in (8, 16, 32)],
    nogil=True,
    cache=True,
)
def _symbols(bits, base, mantissa, mask, below, last, is_float, xor, direct, residuals, symbols):  # type: ignore[no-untyped-def]
    width, field = bits.itemsize * 8, (mantissa, mask, below, last)
    to = (residuals.ctypes.data, symbols.ctypes.data)
    size = bits.shape[0]
    done = symbol_lanes(bits.ctypes.data, base.ctypes.data, *to, size, *field, is_float, xor, width)
    for i in range(done, size):
        b = nb.uint32(base[i])
        residual = residual_of(nb.uint32(bits[i]), b, width, is_float, xor)
        context = context_of(b, nb.uint32(mantissa), nb.uint32(mask), nb.uint32(below), nb.uint32(last))
        residuals[i] = residual
        symbols[i] = nb.uint16((context << nb.uint32(8)) | token_of(residual, nb.uint32(direct)))


@njit(inline="always")
def _put(out, place, value, count):  # type: ignore[no-untyped-def]
    for i in range(count):
        out[place + i] = nb.uint8(nb.uint64(value) >> nb.uint64(8 * i))


@njit(inline="always")
def _content(counts, direct, noise):  # type: ignore[no-untyped-def]
    if not noise:
        return TOKENS
    large, all_tokens = 0.0, 0.0
    for table in range(counts.shape[0]):
        for token in range(256):
            all_tokens += counts[table, token]
            if token >= 1 << direct:
                large += counts[table, token]
    return MUCH_NOISE if large > _MUCH * all_tokens else SOME_NOISE


@njit(nogil=True)
def _encode_wide(symbols, residuals, ranges, reciprocals, end, states, noise):  # type: ignore[no-untyped-def]
    """Minus the number of words. The last round is made whole by more of its last symbol."""
    width, tables = residuals.itemsize * 8, (ranges.ctypes.data, reciprocals.ctypes.data)
    whole = symbols.shape[0] // LANES
    used = 0
    if whole * LANES < symbols.shape[0]:
        last_symbols, last_residuals = np.empty(LANES, np.uint16), np.empty(LANES, residuals.dtype)
        for i in range(LANES):
            at = min(whole * LANES + i, symbols.shape[0] - 1)
            last_symbols[i], last_residuals[i] = symbols[at], residuals[at]
        last = (last_symbols.ctypes.data, last_residuals.ctypes.data)
        used = encode_lanes(*last, *tables, end, 1, states.ctypes.data, width, noise)
    rest = nb.uint64(nb.int64(end) + 2 * used)
    return used + encode_lanes(
        symbols.ctypes.data, residuals.ctypes.data, *tables, rest, whole, states.ctypes.data, width, noise
    )


@njit([types.int64(_READ[16], _READ[b], *[types.int64] * 4, _WRITE[8]) for b in (8, 16, 32)], nogil=True, cache=True)
def _encode(symbols, residuals, contexts, below, direct, noise, room):  # type: ignore[no-untyped-def]
    """Fills `room` from its end; where the stream begins in it."""
    counted = np.zeros((4, contexts * 256), np.uint32)
    count_symbols(symbols, counted)
    counts = np.zeros((contexts, 256), np.uint32)
    for i in range(contexts * 256):
        counts[i >> 8, i & 0xFF] = counted[0, i] + counted[1, i] + counted[2, i] + counted[3, i]
    table_of = np.zeros(contexts, np.uint8)
    tables = share_tables(counts, table_of)
    frequency = np.zeros((tables, 256), np.uint16)
    for table in range(tables):
        normalise(counts[table], frequency[table])
    ranges = np.zeros(contexts * 256, np.uint32)
    reciprocals = np.zeros(contexts * 256, np.uint32)
    fill_encoder(frequency, table_of, ranges, reciprocals)

    words = room[: room.shape[0] & ~1].view(np.uint16)
    end = words.shape[0]
    if symbols.shape[0] < FEWEST_FOR_LANES:
        first, state = encode_lane(symbols, residuals, ranges, reciprocals, words, end, direct)
        states = np.full(1, state, np.uint32)
    else:
        states = np.full(LANES, LOWEST_STATE, np.uint32)
        first = end + _encode_wide(symbols, residuals, ranges, reciprocals, words.ctypes.data + 2 * end, states, noise)
    written = np.empty(tables * _TABLE_BYTES + 8, np.uint8)
    table_bytes = write_tables(frequency, tables, written)
    tables_at = 2 * first - table_bytes
    room[tables_at : 2 * first] = written[:table_bytes]
    begins = 0
    for context in range(1, contexts):
        begins |= int(table_of[context] != table_of[context - 1]) << (context - 1)
    begin = tables_at - 4 * states.shape[0] - HEADER_BYTES
    _put(room, begin, contexts, 1)
    _put(room, begin + 1, tables, 1)
    _put(room, begin + 2, begins, 2)
    _put(room, begin + 4, below, 1)
    _put(room, begin + 5, _content(counts[:tables], direct, noise), 1)
    _put(room, begin + 6, table_bytes, 2)
    _put(room, begin + 8, end - first, 4)
    for i in range(states.shape[0]):
        _put(room, begin + HEADER_BYTES + 4 * i, states[i], 4)
    return begin
