"""From a stream back to bit patterns. Everything in it may have been written by a stranger, and is checked."""

from __future__ import annotations

import numba as nb
import numpy as np
from numba import njit, types

from assay.errors import DataError
from assay.weights.codec.coder_state import LOWEST_STATE, PROBABILITY_SUM
from assay.weights.codec.decode_lanes import LEADING, MUCH_NOISE, SOME_NOISE, TOKENS, decode_lanes
from assay.weights.codec.frequency_table import fill_decoder, read_tables
from assay.weights.codec.lanes import LANES
from assay.weights.codec.scalar_lane import decode_lane
from assay.weights.codec.scratch import scratch
from assay.weights.codec.stream_writer import FEWEST_FOR_LANES, HEADER_BYTES
from assay.weights.codec.window import MOST_CONTEXTS
from assay.weights.dtype import ElementType
from assay.weights.store import Tensor

_READ = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32)}
_WRITE = {bits: types.Array(getattr(types, f"uint{bits}"), 1, "C") for bits in (8, 16, 32)}
_NOTHING = np.empty(0, np.uint8)
_PROBLEMS = {
    1: "a stream of tokens ends before its header",
    2: "the header of a stream of tokens does not fit its data",
    3: "a frequency table does not add up",
    4: "a context of a stream of tokens names a table that is not there",
    5: "a stream of tokens does not end where it should",
}


def decode_stream(data: memoryview, base: Tensor, kind: ElementType, xor: bool, out: Tensor) -> None:
    """`base` may be `out`."""
    _run(np.frombuffer(data, np.uint8), _NOTHING, base, kind, xor, out)


def decode_leading_stream(data: memoryview, kind: ElementType, out: Tensor) -> None:
    """The bytes of the elements but the first, by planes, then the stream of the first ones."""
    rest = out.size * (out.itemsize - 1)
    if rest > len(data):
        raise DataError("the bytes that follow the leading ones end too early")
    everything = np.frombuffer(data, np.uint8)
    _run(everything[rest:], everything[:rest], out, kind, False, out)


def _run(stream: Tensor, rest: Tensor, base: Tensor, kind: ElementType, xor: bool, out: Tensor) -> None:
    slots = scratch("slots", MOST_CONTEXTS * PROBABILITY_SUM, np.uint32)
    mask = (1 << kind.exponent) - 1
    problem = _decode(stream, rest, base, kind.mantissa, mask, mask > 0, xor, slots, out)
    if problem:
        raise DataError(_PROBLEMS[problem])


@njit(inline="always")
def _got(data, place, count):  # type: ignore[no-untyped-def]
    value = nb.uint64(0)
    for i in range(count):
        value |= nb.uint64(data[place + i]) << nb.uint64(8 * i)
    return nb.int64(value)


@njit(nogil=True)
def _join(planes, out):  # type: ignore[no-untyped-def]
    """The other bytes of the elements, where their first bytes will be added."""
    size = out.shape[0]
    for i in range(size):
        value = nb.uint32(0)
        for number in range(out.itemsize - 1):
            value |= nb.uint32(planes[number * size + i]) << nb.uint32(8 * number)
        out[i] = value


@njit(nogil=True)
def _decode_wide(data, words_at, words, rest, states, slots, base, field, content, out):  # type: ignore[no-untyped-def]
    """The last words are read from a copy with zeros behind it, so that no stream reads beyond its own end."""
    # A round takes a word a lane for the tokens and one for each pop of noise.
    noisy = content in (SOME_NOISE, MUCH_NOISE)
    most = LANES * (1 + (out.itemsize // 2 if noisy else 0))
    rounds = np.zeros(1, np.int64)
    whole = out.shape[0] // LANES
    width, state_at, rounds_at = out.itemsize * 8, states.ctypes.data, rounds.ctypes.data
    leading = content == LEADING
    from_base = rest.ctypes.data if leading else base.ctypes.data
    source, to = data.ctypes.data + nb.uint64(words_at), out.ctypes.data
    table = slots.ctypes.data
    read = decode_lanes(source, table, from_base, to, whole, state_at, words - most, rounds_at, *field, width, content)
    done, left = rounds[0], words - read
    last_words = np.zeros(left + most, np.uint16)
    for i in range(left):
        at = words_at + 2 * (read + i)
        last_words[i] = nb.uint16(data[at]) | (nb.uint16(data[at + 1]) << nb.uint16(8))
    source, place = last_words.ctypes.data, 0
    if done < whole:
        to_skip = nb.uint64(done * LANES * out.itemsize)
        base_skip = nb.uint64(done * LANES) if leading else to_skip
        from_base, to = from_base + base_skip, to + to_skip
        place = decode_lanes(
            source, table, from_base, to, whole - done, state_at, left, rounds_at, *field, width, content
        )
        if done + rounds[0] != whole or place > left:
            return False
    more = out.shape[0] - whole * LANES
    if more:
        last_base, last_out = np.zeros(LANES, out.dtype), np.empty(LANES, out.dtype)
        last_rest = np.zeros(LANES * (out.itemsize - 1), np.uint8)
        for i in range(LANES):
            at = min(whole * LANES + i, out.shape[0] - 1)
            if leading:
                for plane in range(out.itemsize - 1):
                    last_rest[plane * LANES + i] = rest[plane * out.shape[0] + at]
            else:
                last_base[i] = base[at]
        source += nb.uint64(2 * place)
        from_base, to = last_rest.ctypes.data if leading else last_base.ctypes.data, last_out.ctypes.data
        last_field = (LANES if leading else field[0], *field[1:])
        place += decode_lanes(source, table, from_base, to, 1, state_at, left, rounds_at, *last_field, width, content)
        out[whole * LANES :] = last_out[:more]
    for state in states:
        if state != LOWEST_STATE:
            return False
    return place == left


@njit(
    [types.int64(_READ[8], _READ[8], _READ[b], *[types.int64] * 4, _WRITE[32], _WRITE[b]) for b in (8, 16, 32)],
    nogil=True,
    cache=True,
)
def _decode(data, rest, base, mantissa, mask, is_float, xor, slots, out):  # type: ignore[no-untyped-def]
    """0, or the number of a problem. If there is a `rest`, the stream is of leading bytes and these are the others."""
    leading = rest.shape[0] > 0
    if data.shape[0] < HEADER_BYTES:
        return 1
    contexts, tables, begins = _got(data, 0, 1), _got(data, 1, 1), _got(data, 2, 2)
    below, content, table_bytes, words = _got(data, 4, 1), _got(data, 5, 1), _got(data, 6, 2), _got(data, 8, 4)
    small = out.shape[0] < FEWEST_FOR_LANES
    tables_at = HEADER_BYTES + (4 if small else 4 * LANES)
    words_at = tables_at + table_bytes
    if not (1 <= contexts <= MOST_CONTEXTS and 1 <= tables <= contexts and out.shape[0] > 0):
        return 2
    if words_at + 2 * words != data.shape[0] or content > MUCH_NOISE or (leading and contexts > 1):
        return 2
    if (content == TOKENS) != (leading or out.itemsize == 1):
        return 2
    frequency = np.zeros((tables, 256), np.uint16)
    if read_tables(data[tables_at:words_at], tables, frequency) != table_bytes:
        return 3
    table_of = np.zeros(contexts, np.uint8)
    for context in range(1, contexts):
        table_of[context] = table_of[context - 1] + ((begins >> (context - 1)) & 1)
    if table_of[contexts - 1] >= tables:
        return 4
    field = (mantissa, mask, below, contexts - 1, is_float, xor)
    packed = out.itemsize == 4 and not leading
    if small:
        fill_decoder(frequency, np.arange(tables).astype(np.uint8), packed, slots)
        state = _got(data, HEADER_BYTES, 4)
        if leading:
            _join(rest, out)
        done = decode_lane(data, words_at, state, slots, table_of, base, *field, leading, out)
    else:
        fill_decoder(frequency, table_of, packed, slots)
        states = np.empty(LANES, np.uint32)
        for i in range(LANES):
            states[i] = _got(data, HEADER_BYTES + 4 * i, 4)
        if leading:
            content, field = LEADING, (out.shape[0], mask, below, contexts - 1, is_float, xor)
        done = _decode_wide(data, words_at, words, rest, states, slots, base, field, content, out)
    return 0 if done else 5
