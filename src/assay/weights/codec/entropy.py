"""Symbols to bytes and back: builds the tables, runs the lanes, and checks everything a stranger may have written."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from assay.errors import DataError
from assay.weights.codec.frequency_table import (
    fill_decoder,
    fill_encoder,
    normalise,
    read_tables,
    share_tables,
    write_tables,
)
from assay.weights.codec.rans_lanes import LANES, LOWEST_STATE, PROBABILITY_SUM, decode_lanes, encode_lanes
from assay.weights.codec.scalar_lane import decode_lane, encode_lane
from assay.weights.codec.tokens import count_symbols
from assay.weights.store import Tensor

MOST_CONTEXTS = 16
_SMALL = 4096
_HEADER = struct.Struct("<BBHHHI")  # contexts, tables, which contexts begin a new table, bytes of tables, 0, words


@dataclass(frozen=True)
class Model:
    """The tables of one stream, as bytes and ready to code with."""

    contexts: int
    tables: int
    table_of: Tensor
    frequency: Tensor
    encoded: bytes


def build_model(symbols: Tensor, contexts: int) -> Model:
    """`symbols` are context * 256 + token."""
    counted = np.zeros((4, contexts * 256), np.uint32)
    count_symbols(symbols, counted)
    counts = counted.sum(0, dtype=np.uint32).reshape(contexts, 256)
    table_of = np.zeros(contexts, np.uint8)
    tables = share_tables(counts, table_of)
    frequency = np.zeros((tables, 256), np.uint16)
    for table in range(tables):
        normalise(counts[table], frequency[table])
    room = np.empty(tables * 600 + 8, np.uint8)
    return Model(contexts, tables, table_of, frequency, room[: write_tables(frequency, tables, room)].tobytes())


def encode_symbols(symbols: Tensor, contexts: int) -> bytes:
    """`symbols` (uint16) as bytes, a multiple of 4 long."""
    model = build_model(symbols, contexts)
    ranges = np.zeros(contexts * 256, np.uint32)
    reciprocals = np.zeros(contexts * 256, np.uint64)
    fill_encoder(model.frequency, model.table_of, ranges, reciprocals)
    if symbols.size < _SMALL:
        words = np.empty(symbols.size + 2, np.uint16)
        place, state = encode_lane(symbols, ranges, reciprocals, words)
        states = struct.pack("<I", state)
        coded = words[place:]
    else:
        states, coded = _encode_wide(symbols, ranges, reciprocals)
    steps = np.diff(model.table_of)
    begins = sum(1 << int(context) for context in np.flatnonzero(steps))
    head = _HEADER.pack(contexts, model.tables, begins, len(model.encoded), 0, coded.size)
    body = b"".join((head, states, coded.tobytes(), model.encoded))
    return body + bytes(-len(body) % 4)


def _encode_wide(symbols: Tensor, ranges: Tensor, reciprocals: Tensor) -> tuple[bytes, Tensor]:
    missing = -symbols.size % LANES
    if missing:
        symbols = np.concatenate([symbols, np.repeat(symbols[-1:], missing)])
    words = np.empty(symbols.size + LANES, np.uint16)
    states = np.full(LANES, LOWEST_STATE, np.uint32)
    end = words.ctypes.data + words.nbytes
    used = encode_lanes(
        symbols.ctypes.data, ranges.ctypes.data, reciprocals.ctypes.data, end, symbols.size // LANES, states.ctypes.data
    )
    return states.tobytes(), words[used:] if used else words[:0]


def decode_symbols(data: memoryview, contexts_of: Tensor | None, size: int) -> tuple[Tensor, int]:
    """Tokens (uint8), and how many bytes of `data` they took. `contexts_of` is per token; None is all 0."""
    if len(data) < _HEADER.size:
        raise DataError("a stream of tokens ends before its header")
    contexts, tables, begins, table_bytes, _, count = _HEADER.unpack_from(data)
    states_bytes = 4 if size < _SMALL else 4 * LANES
    end = _HEADER.size + states_bytes + 2 * count + table_bytes
    if not 1 <= contexts <= MOST_CONTEXTS or not 1 <= tables <= contexts or end > len(data) or count > size + LANES:
        raise DataError("the header of a stream of tokens does not fit its data")
    place = _HEADER.size + states_bytes
    words = np.frombuffer(data, np.uint16, count, place)
    frequency = read_tables(np.frombuffer(data, np.uint8, table_bytes, place + 2 * count), tables)
    table_of = np.zeros(contexts, np.uint8)
    np.cumsum(begins >> np.arange(contexts - 1) & 1, out=table_of[1:])
    if int(table_of.max()) >= tables:
        raise DataError("a context of a stream of tokens names a table that is not there")
    if contexts_of is None:
        contexts_of = np.zeros(size + -size % LANES, np.uint8)
    elif contexts_of.size and int(contexts_of.max()) >= contexts:
        raise DataError("a stream of tokens has fewer contexts than its base")
    slots = np.empty(contexts * PROBABILITY_SUM, np.uint32)
    fill_decoder(frequency, table_of, slots)
    states = np.frombuffer(data, np.uint32, states_bytes // 4, _HEADER.size)
    if size < _SMALL:
        tokens = np.empty(size, np.uint8)
        if decode_lane(words, int(states[0]), slots, contexts_of[:size], tokens):
            raise DataError("a stream of tokens does not end where it should")
    else:
        tokens = _decode_wide(words, states.copy(), slots, contexts_of, size)
    return tokens, end + -end % 4


def _decode_wide(words: Tensor, states: Tensor, slots: Tensor, contexts_of: Tensor, size: int) -> Tensor:
    """The last words are read from a copy with zeros behind it, so that no stream reads beyond its own end."""
    steps = -(-size // LANES)
    tokens = np.empty(steps * LANES, np.uint8)
    rounds = np.zeros(1, np.int64)

    def run(source: Tensor, done: int, limit: int) -> int:
        return int(
            decode_lanes(
                source.ctypes.data,
                slots.ctypes.data,
                contexts_of.ctypes.data + done * LANES,
                tokens.ctypes.data + done * LANES,
                steps - done,
                states.ctypes.data,
                limit,
                rounds.ctypes.data,
            )
        )

    read = run(words, 0, words.size - LANES)
    done = int(rounds[0])
    if done < steps:
        padded = np.zeros(words.size - read + (steps - done) * LANES, np.uint16)
        padded[: words.size - read] = words[read:]
        read += run(padded, done, padded.size)
    if read != words.size or (states != LOWEST_STATE).any():
        raise DataError("a stream of tokens does not end where it should")
    return tokens[:size]
