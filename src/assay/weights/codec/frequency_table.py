"""The probabilities of the entropy coder: counts become frequencies that sum to 1024, and these a few bytes and back.

Contexts that are neighbours share a table where that costs less than a table of their own. A frequency is written as
its length in bits and its leading bits: the exact value of a large one does not matter, so it is rounded before use.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core.cgutils import raw_memcpy
from numba.extending import intrinsic

from assay.weights.codec.tokens import DIRECT, ESCAPE, leading_zeros, noise_length
from assay.weights.codec.vector_operations import (
    I8,
    I32,
    NOISE,
    POINTER,
    PROBABILITY_SUM,
    STATE_BITS,
    WIDTH,
    splat,
    step_of,
    vector_of,
)
from assay.weights.store import Tensor

# Runs of 32-bit numbers in memory, which compiled loops over arrays write one by one.


@intrinsic
def load_number(typing, start, place):  # type: ignore[no-untyped-def]
    """The 32-bit number at any byte behind the address `start`, aligned or not."""

    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address, place = arguments
        at = builder.gep(builder.inttoptr(address, POINTER), [place], source_etype=I8)
        return builder.load(at, typ=I32, align=1)

    return types.uint32(types.uint64, types.int64), code


@intrinsic
def store_rising(typing, start, place, first):  # type: ignore[no-untyped-def]
    """Stores `first` and the numbers above it, `WIDTH` in all, at a place behind the address `start`."""

    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address, place, first = arguments
        at = builder.gep(builder.inttoptr(address, POINTER), [place], source_etype=I32)
        rising = ir.Constant(vector_of(I32), list(range(WIDTH)))
        builder.store(builder.add(splat(builder, first, vector_of(I32)), rising), at, align=1)
        return _context.get_dummy_value()

    return types.void(types.uint64, types.int64, types.uint64), code


@intrinsic
def copy_numbers(typing, start, place, to, count):  # type: ignore[no-untyped-def]
    """Copies `count` numbers from one place behind the address `start` to another; the two do not overlap."""

    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address, *places, count = arguments
        numbers = builder.inttoptr(address, POINTER)
        source, target = (builder.gep(numbers, [place], source_etype=I32) for place in places)
        raw_memcpy(builder, target, source, count, 4)
        return _context.get_dummy_value()

    return types.void(types.uint64, types.int64, types.int64, types.int64), code


MEANING_AT, NOISE_AT, ESCAPED_AT, SHARE_AT = 10, 16, 21, 22
"""Lowest bits of the fields of a decoder's slot; see `read_tables`."""
FREQUENCY_AT, START_AT, ENCODER_ESCAPED_AT, ENCODER_NOISE_AT = 22, 12, 8, 4
_WORTH_A_STEP = 0.6
_COUNTS = types.Array(types.uint32, 2, "C")
_FREQUENCIES = types.Array(types.uint16, 2, "C")
_READ = types.Array(types.uint8, 1, "C", readonly=True)
_KEPT_BITS = 4
_TABLE_BITS = 16
_ENTRY_BITS = 7
_LOG2 = np.log2(1 + (np.arange(256) + 0.5) / 256)


@njit(inline="always")
def _log2(count):  # type: ignore[no-untyped-def]
    """The logarithm to three digits, in a fraction of the time of an exact one."""
    wide = nb.uint32(count)
    octave = nb.uint32(31) - leading_zeros(wide)
    return nb.float64(octave) + _LOG2[((wide << (nb.uint32(31) - octave)) >> nb.uint32(23)) & nb.uint32(0xFF)]


@njit(types.float64(types.Array(types.uint32, 1, "C")), nogil=True, cache=True)
def _cost(counts):  # type: ignore[no-untyped-def]
    """Bits to code these symbols with a table of their own, the table included."""
    total, weighted, present = nb.uint32(0), 0.0, 0
    for count in counts:
        if count:
            total += count
            weighted += count * _log2(count)
            present += 1
    return total * _log2(total) - weighted + _ENTRY_BITS * present + _TABLE_BITS if present else 0.0


@njit(types.int64(_COUNTS, types.Array(types.uint8, 1, "C")), nogil=True, cache=True)
def share_tables(counts, table_of):  # type: ignore[no-untyped-def]
    """Sets the table of each context and adds up `counts` by table in place; returns the number of tables."""
    tables = 1
    table_of[0] = 0
    cost = _cost(counts[0])
    for context in range(1, counts.shape[0]):
        alone = _cost(counts[context])
        together = counts[tables - 1] + counts[context]
        shared = _cost(together)
        if alone == 0.0 or cost == 0.0 or shared <= cost + alone:
            counts[tables - 1] = together
            cost = shared
        else:
            counts[tables] = counts[context]
            tables += 1
            cost = alone
        table_of[context] = tables - 1
    return tables


@njit(nb.int64(nb.int64), inline="always")
def _round(value):  # type: ignore[no-untyped-def]
    length = 0
    while (value >> length) > 1:
        length += 1
    drop = length - _KEPT_BITS
    if drop <= 0:
        return value
    return ((value + (1 << (drop - 1))) >> drop) << drop


@njit(inline="always")
def _step(symbol, content):  # type: ignore[no-untyped-def]
    return step_of(noise_length(symbol)) if content == NOISE else 1


@njit(inline="always")
def _tokens(content):  # type: ignore[no-untyped-def]
    return ESCAPE + 1 if content == NOISE else 256


@njit(nogil=True)
def _make_escape(symbol, counts):  # type: ignore[no-untyped-def]
    counts[ESCAPE] += counts[symbol]
    counts[symbol] = 0


@njit(nogil=True)
def _near(counts, scale, taker, content, exact, frequency):  # type: ignore[no-untyped-def]
    """Sets all frequencies but the taker's near what they should be, and returns what is left for it."""
    left, fair = PROBABILITY_SUM, counts[taker] * scale
    for symbol in range(_tokens(content)):
        frequency[symbol] = 0
        if counts[symbol] and symbol != taker:
            step, near = _step(symbol, content), max(1, int(counts[symbol] * scale + 0.5))
            if not exact:
                near = _round(near)
            frequency[symbol] = max(1, (near + step // 2) // step) * step
            left -= frequency[symbol]
    if content == NOISE:
        # Step back towards the wanted frequency where that brings the sum nearer to 1024.
        for symbol in range(DIRECT, ESCAPE):
            wanted, step, over = counts[symbol] * scale, _step(symbol, content), left - fair
            if step > 1 and over >= step and wanted > frequency[symbol]:
                frequency[symbol] += step
                left -= step
            elif step > 1 and over <= -step and wanted < frequency[symbol] and frequency[symbol] > step:
                frequency[symbol] -= step
                left += step
    return left


@njit(
    types.void(types.Array(types.uint32, 1, "C"), types.int64, types.Array(types.uint16, 1, "C")),
    nogil=True,
    cache=True,
)
def normalise(counts, content, frequency):  # type: ignore[no-untyped-def]
    """Frequencies that sum to 1024, from counts: every symbol present gets at least 1, none gets all.

    With noise, a token has a multiple of its step; those too rare for that are counted as escapes instead. One whose
    step is 1 takes what rounding leaves over.
    """
    total = 0
    for symbol in range(_tokens(content)):
        total += counts[symbol]
    if total == 0:
        frequency[0], frequency[1] = PROBABILITY_SUM - 1, 1
        return
    scale = PROBABILITY_SUM / total
    if content == NOISE:
        for symbol in range(DIRECT, ESCAPE):
            if counts[symbol] and counts[symbol] * scale < _WORTH_A_STEP * _step(symbol, content):
                _make_escape(symbol, counts)
    while True:
        taker = 0
        for symbol in range(_tokens(content)):
            if counts[symbol] > counts[taker] and _step(symbol, content) == 1:
                taker = symbol
        fair = counts[taker] * scale
        left = _near(counts, scale, taker, content, False, frequency)
        if left < 0.9 * fair or left < 1:
            left = _near(counts, scale, taker, content, True, frequency)
        # Hundreds of rare symbols: take from those that have most until the taker has its share.
        stuck = False
        while left < max(1, int(fair / 2)) and not stuck:
            richest, most = 0, 0
            for symbol in range(_tokens(content)):
                more = frequency[symbol] - _step(symbol, content)
                if symbol != taker and more > most:
                    richest, most = symbol, more
            if most:
                frequency[richest] -= _step(richest, content)
                left += _step(richest, content)
            stuck = most == 0
        if not stuck:
            break
        # All that is left are tokens with much noise, none of which can have less: the rarest becomes an escape.
        least = 0
        for symbol in range(DIRECT, ESCAPE):
            if counts[symbol] and (not least or counts[symbol] < counts[least]):
                least = symbol
        _make_escape(least, counts)
    if left == PROBABILITY_SUM:
        frequency[taker ^ 1] = 1
        left -= 1
    frequency[taker] = left


@njit(types.int64(_FREQUENCIES, types.int64, types.Array(types.uint8, 1, "C")), nogil=True, cache=True)
def write_tables(frequency, tables, out):  # type: ignore[no-untyped-def]
    """Bits, lowest first: per table the last symbol, then per symbol 4 bits of length and the bits below the top one.

    Length 0 is frequency 0; after it 4 bits say how many more zeros follow.
    """
    held, count, place = nb.uint64(0), nb.uint64(0), 0
    for table in range(tables):
        last = 255
        while last > 0 and frequency[table, last] == 0:
            last -= 1
        held |= nb.uint64(last) << count
        count += nb.uint64(8)
        symbol = 0
        while symbol <= last:
            value = int(frequency[table, symbol])
            if value == 0:
                run = 0
                while run < 15 and symbol + run + 1 <= last and frequency[table, symbol + run + 1] == 0:
                    run += 1
                held |= nb.uint64(run << 4) << count
                count += nb.uint64(8)
                symbol += run + 1
            else:
                length = 0
                while (value >> length) > 0:
                    length += 1
                extra = value - (1 << (length - 1))
                fine = length - 1 - _KEPT_BITS
                exact = 0
                if fine > 0:
                    exact = int((extra & ((1 << fine) - 1)) != 0)
                    if not exact:
                        extra >>= fine
                held |= nb.uint64(length | (exact << 4)) << count if fine > 0 else nb.uint64(length) << count
                count += nb.uint64(5 if fine > 0 else 4)
                held |= nb.uint64(extra) << count
                count += nb.uint64(length - 1 if fine <= 0 or exact else _KEPT_BITS)
                symbol += 1
            while count >= 8:
                out[place] = nb.uint8(held)
                place += 1
                held >>= nb.uint64(8)
                count -= nb.uint64(8)
        while count >= 8:
            out[place] = nb.uint8(held)
            place += 1
            held >>= nb.uint64(8)
            count -= nb.uint64(8)
    if count:
        out[place] = nb.uint8(held)
        place += 1
    return place


@njit(inline="always")
def _meaning(token, content):  # type: ignore[no-untyped-def]
    """What a slot says of a token: the length of its noise and the 6 bits above it; or that it is an escape, which is
    decoded as no change and put right later."""
    if content != NOISE:
        return token << MEANING_AT
    if token == ESCAPE:
        return 1 << ESCAPED_AT
    head = token if token < DIRECT else 4 | (token & 3)
    return (noise_length(token) << NOISE_AT) | (head << MEANING_AT)


def _entries() -> Tensor:
    """How a written frequency is read, by its first five bits. Four numbers: bits of the prefix, bits of the frequency
    that follow it, low bits that were dropped, and the value of its top bit, which is not written."""
    entries = np.zeros((32, 4), np.uint32)
    for first in range(32):
        length, exact = first & 15, first >> 4
        if length:
            dropped = max(0, length - 1 - _KEPT_BITS)
            before, kept = (5, length - 1 if exact else _KEPT_BITS) if dropped else (4, length - 1)
            entries[first] = before, kept, length - 1 - kept, 1 << (length - 1)
    return entries


_ENTRIES = _entries()


@njit(nogil=True)
def _read_tables(padded, tables, content, slots):  # type: ignore[no-untyped-def]
    """`padded` has four bytes more than the data, so that a 32-bit number can be read from its last byte."""
    source, to, end, place = padded.ctypes.data, slots.ctypes.data, 8 * (padded.shape[0] - 4), 0
    for table in range(tables):
        if place > end:
            return -1
        last = nb.int64(load_number(source, place >> 3) >> nb.uint32(place & 7)) & 0xFF
        place += 8
        token, total, start = 0, 0, table * PROBABILITY_SUM
        while token <= last and place <= end:
            window = load_number(source, place >> 3) >> nb.uint32(place & 7)
            first = window & nb.uint32(31)
            if not first & nb.uint32(15):
                token += 1 + nb.int64((window >> nb.uint32(4)) & nb.uint32(15))
                place += 8
                continue
            before, kept = _ENTRIES[first, 0], _ENTRIES[first, 1]
            written = (window >> before) & ((nb.uint32(1) << kept) - nb.uint32(1))
            value = _ENTRIES[first, 3] | (written << _ENTRIES[first, 2])
            place += nb.int64(before + kept)
            at, total = start + total, total + nb.int64(value)
            if total > PROBABILITY_SUM:
                return -1
            head = nb.uint64(_meaning(token, content)) | nb.uint64(value << nb.uint32(SHARE_AT))
            # A vector at a time: the next token overwrites the slots that were filled too many.
            while at < start + total:
                store_rising(to, at, head)
                at += WIDTH
                head += nb.uint64(WIDTH)
            token += 1
        if total != PROBABILITY_SUM:
            return -1
    return (place + 7) // 8


@njit(types.int64(_READ, types.int64, types.int64, types.Array(types.uint32, 1, "C")), nogil=True, cache=True)
def read_tables(data, tables, content, slots):  # type: ignore[no-untyped-def]
    """Fills 1024 slots for each table. A slot is a token's frequency (10 bits), its meaning (12 bits) and the place
    within the token's range (10 bits). Returns the bytes that the tables took, or -1 if frequencies do not add up.
    `slots` must have room for one vector more."""
    padded = np.zeros(data.shape[0] + 4, np.uint8)
    padded[: data.shape[0]] = data
    return _read_tables(padded, tables, content, slots)


@njit(types.void(types.Array(types.uint8, 1, "C"), types.Array(types.uint32, 1, "C")), nogil=True, cache=True)
def share_slots(table_of, slots):  # type: ignore[no-untyped-def]
    """Turns slots by table into slots by context, in place: no context comes before its table."""
    for context in range(table_of.shape[0] - 1, 0, -1):
        table = nb.int64(table_of[context])
        if table != context:
            copy_numbers(slots.ctypes.data, table * PROBABILITY_SUM, context * PROBABILITY_SUM, PROBABILITY_SUM)


@njit(
    types.void(_FREQUENCIES, types.Array(types.uint8, 1, "C"), types.int64, types.Array(types.uint64, 1, "C")),
    nogil=True,
    cache=True,
)
def fill_encoder(frequency, table_of, content, ranges):  # type: ignore[no-untyped-def]
    """Fills in 64 bits for each symbol, from the top: its reciprocal (32 bits), its frequency (10), where it starts
    (10), whether it is an escape (4), the length of its noise (4), a shift (4). A token without a frequency gets those
    of its escape.

    The reciprocal stands in for a division. For a state below frequency * 2**21, state * reciprocal >> (31 + shift) is
    state // frequency exactly: the reciprocal is too large by less than one, so the product is too large by less than
    frequency * 2**21, and that is at most 2 ** (31 + shift) / frequency.
    """
    for context in range(table_of.shape[0]):
        start = 0
        for token in range(_tokens(content)):
            value = nb.int64(frequency[table_of[context], token])
            if value:
                shift = 0
                while (1 << shift) < value:
                    shift += 1
                packed = (value << FREQUENCY_AT) | (start << START_AT) | shift
                if content == NOISE:
                    packed |= noise_length(token) << ENCODER_NOISE_AT
                    packed |= int(token == ESCAPE) << ENCODER_ESCAPED_AT
                top = nb.uint64(1) << nb.uint64(STATE_BITS + shift)
                reciprocal = (top + nb.uint64(value - 1)) // nb.uint64(value)
                ranges[context * 256 + token] = (reciprocal << nb.uint64(32)) | nb.uint64(packed)
                start += value
        if content == NOISE:
            for token in range(ESCAPE):
                if not frequency[table_of[context], token]:
                    ranges[context * 256 + token] = ranges[context * 256 + ESCAPE]
