"""Decodes a stream to bit patterns. Everything in it may have been written by a stranger, and is checked."""

from __future__ import annotations

import numba as nb
import numpy as np
from numba import njit, types

from assay.errors import DataError
from assay.weights.codec.decode_lanes import decode_lanes
from assay.weights.codec.escapes import get_noted_escapes
from assay.weights.codec.frequency_table import read_tables, share_slots
from assay.weights.codec.scalar_lane import decode_lane
from assay.weights.codec.stream_writer import FEWEST_FOR_LANES, HEADER_BYTES
from assay.weights.codec.symbols import MOST_CONTEXTS, scratch
from assay.weights.codec.vector_operations import (
    FIXED,
    LANES,
    LEADING,
    LOWEST_STATE,
    MOST_FIXED,
    NOISE,
    PROBABILITY_SUM,
    TOKENS,
    WIDTH,
    lanes_of,
)
from assay.weights.element_types import ElementType
from assay.weights.store import Tensor

_READ = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32)}
_WRITE = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C") for bits in (8, 16, 32, 64)}
_PROBLEMS = {
    1: "a stream of tokens ends before its header",
    2: "the header of a stream of tokens does not fit its data",
    3: "a frequency table does not add up, or a length is none",
    4: "a context of a stream of tokens names a table that is not there",
    5: "a stream of tokens does not end where it should",
}


def decode_stream(data: memoryview, base: Tensor | None, kind: ElementType, xor: bool, out: Tensor) -> None:
    """Decodes a stream into `out`. `base` may be `out`; without one the stream is of leading bytes."""
    slots = scratch("slots", MOST_CONTEXTS * PROBABILITY_SUM + WIDTH, np.uint32)
    noted = scratch("noted", 0 if base is None else out.size // LANES + 1, np.uint64)
    mask = (1 << kind.exponent) - 1
    leading, under = base is None, out if base is None else base
    everything = np.frombuffer(data, np.uint8)
    problem = _decode(everything, leading, under, kind.mantissa, mask, mask > 0, xor, slots, noted, out)
    if problem:
        raise DataError(_PROBLEMS[problem])


@njit(inline="always")
def _get(data, place, count):  # type: ignore[no-untyped-def]
    value = nb.uint64(0)
    for i in range(count):
        value |= nb.uint64(data[place + i]) << nb.uint64(8 * i)
    return nb.int64(value)


@njit(inline="always")
def _copy(data, start, end, room):  # type: ignore[no-untyped-def]
    """A copy with `room` zeros behind it, so that nothing reads beyond the end of the data."""
    copy = np.zeros(end - start + room, np.uint8)
    copy[: end - start] = data[start:end]
    return copy


@njit(nogil=True)
def _read_lengths(data, itemsize, slots):  # type: ignore[no-untyped-def]
    """Puts the length of each context into `slots`, side by side as elements: so the loop looks them up. False if a
    length is larger than can be, or their number is wrong."""
    if data.shape[0] != MOST_CONTEXTS:
        return False
    slots[:WIDTH] = 0
    for context in range(MOST_CONTEXTS):
        if data[context] > MOST_FIXED:
            return False
        at = context * itemsize
        slots[at >> 2] |= nb.uint32(data[context]) << nb.uint32(8 * (at & 3))
    return True


@njit(nogil=True)
def _rounds(words, low, base, out, first, steps, states, slots, noted, rounds, how):  # type: ignore[no-untyped-def]
    """Decodes rounds; returns the number of words read. `words` is an array, where to begin in it, and the word before
    which to stop; `low` an array, where to begin, and the bytes from plane to plane.

    It takes arrays, not addresses, so that they live until it returns.
    """
    at = nb.uint64(first)
    from_words, below = words[0].ctypes.data + nb.uint64(words[1]), low[0].ctypes.data + nb.uint64(low[1]) + at
    under, to = base.ctypes.data + at * nb.uint64(base.itemsize), out.ctypes.data + at * nb.uint64(out.itemsize)
    sources = (from_words, noted.ctypes.data, slots.ctypes.data, under, below)
    return decode_lanes(*sources, to, steps, states.ctypes.data, words[2], rounds.ctypes.data, low[2], *how)


@njit(nogil=True)
def _decode_lanes(data, apart_at, escapes, wide, words, states, slots, noted, base, field, content, planes, out):  # type: ignore[no-untyped-def]
    """Decodes all lanes; the last words are read from a copy, so that nothing reads beyond the data. False if the
    stream does not end where it should."""
    size, lanes = out.shape[0], states.shape[0]
    whole = size // lanes
    words_at = apart_at + 2 * escapes
    low_at = words_at + 2 * words
    low, rounds, xor = (data, low_at, size), np.zeros(1, np.int64), field[5]
    how = (*field, out.itemsize * 8, content, planes)
    most = 2 * lanes if content == FIXED else lanes  # words that a round takes
    read = _rounds((data, words_at, words - most), low, base, out, 0, whole, states, slots, noted, rounds, how)
    done, left, place, taken = rounds[0], words - read, 0, apart_at
    last = _copy(data, words_at + 2 * read, low_at, 2 * most)
    if done < whole:
        begin, noted_here = done * lanes, noted[done:]
        place = _rounds((last, 0, left), low, base, out, begin, whole - done, states, slots, noted_here, rounds, how)
        if done + rounds[0] != whole or place > left:
            return False
    if content == NOISE:
        taken = get_noted_escapes(noted[:whole], data, taken, words_at, wide, *low, planes, xor, out)
    rest = size - whole * lanes
    if rest:
        last_base, last_out = np.zeros(lanes, out.dtype), np.empty(lanes, out.dtype)
        last_low = np.zeros(lanes * planes + 1, np.uint8)
        for i in range(lanes):
            at = min(whole * lanes + i, size - 1)
            last_base[i] = base[at]
            for plane in range(planes):
                last_low[plane * lanes + i] = data[low_at + plane * size + at]
        low, source = (last_low, 0, lanes), (last, 2 * place, left)
        place += _rounds(source, low, last_base, last_out, 0, 1, states, slots, noted, rounds, how)
        if content == NOISE:
            taken = get_noted_escapes(noted[:1], data, taken, words_at, wide, *low, planes, xor, last_out)
        out[whole * lanes :] = last_out[:rest]
    for state in states:
        if state != LOWEST_STATE:
            return False
    return place == left and taken == words_at


@njit(
    [
        types.int64(_READ[8], types.int64, _READ[b], *[types.int64] * 4, _WRITE[32], _WRITE[64], _WRITE[b])
        for b in (8, 16, 32)
    ],
    nogil=True,
    cache=True,
)
def _decode(data, leading, base, mantissa, mask, is_float, xor, slots, noted, out):  # type: ignore[no-untyped-def]
    """0, or the number of a problem."""
    if data.shape[0] < HEADER_BYTES:
        return 1
    contexts, tables, begins = _get(data, 0, 1), _get(data, 1, 1), _get(data, 2, 2)
    below, kept, table_bytes, words = _get(data, 4, 1), _get(data, 5, 1), _get(data, 6, 2), _get(data, 8, 4)
    escapes = _get(data, 12, 4)
    content, planes, wide = kept & 15, (kept >> 4) & 7, kept >> 7
    small = out.shape[0] < FEWEST_FOR_LANES
    lanes = 1 if small else lanes_of(content)
    tables_at = HEADER_BYTES + 4 * lanes
    apart_at = tables_at + table_bytes
    if not (1 <= contexts <= MOST_CONTEXTS and 1 <= tables <= contexts and out.shape[0] > 0):
        return 2
    if apart_at + 2 * (escapes + words) + planes * out.shape[0] != data.shape[0]:
        return 2
    fixed = content == FIXED and not (leading or xor or small or out.itemsize == 1)
    if not fixed and content != (LEADING if leading else TOKENS if out.itemsize == 1 else NOISE):
        return 2
    if leading and contexts > 1:
        return 2
    if planes != out.itemsize - 1 if leading else planes > (2 if out.itemsize == 4 else 0):
        return 2
    if fixed and (planes != out.itemsize - 2 or escapes):
        return 2
    if fixed:
        if not _read_lengths(data[tables_at:apart_at], out.itemsize, slots):
            return 3
    elif read_tables(data[tables_at:apart_at], tables, content, slots) != table_bytes:
        return 3
    table_of = np.zeros(contexts, np.uint8)
    for context in range(1, contexts):
        table_of[context] = table_of[context - 1] + ((begins >> (context - 1)) & 1)
    if table_of[contexts - 1] >= tables:
        return 4
    field = (mantissa, mask, below, contexts - 1, is_float, xor)
    if small:
        state = _get(data, HEADER_BYTES, 4)
        at = (apart_at, apart_at + 2 * escapes, apart_at + 2 * (escapes + words))
        done = decode_lane(data, *at, state, slots, table_of, base, *field, content, planes, out)
    else:
        if not fixed:
            share_slots(table_of, slots)
        states = np.empty(lanes, np.uint32)
        for i in range(lanes):
            states[i] = _get(data, HEADER_BYTES + 4 * i, 4)
        done = _decode_lanes(
            data, apart_at, escapes, wide, words, states, slots, noted, base, field, content, planes, out
        )
    return 0 if done else 5
