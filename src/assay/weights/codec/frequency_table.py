"""The probabilities of the entropy coder: from counts to frequencies that sum to 2048, and to a few bytes and back.

Contexts that are neighbours share a table where that costs less than a table of their own. A frequency is written as
its length in bits and its leading bits: the exact value of a large one does not matter, so it is rounded before use.
"""

from __future__ import annotations

import math

import numba as nb
from numba import njit, types

from assay.weights.codec.coder_state import PROBABILITY_SUM, STATE_BITS
from assay.weights.codec.tokens import meaning_of

_COUNTS = types.Array(types.uint32, 2, "C")
_FREQUENCIES = types.Array(types.uint16, 2, "C")
_KEPT_BITS = 4
_TABLE_BITS = 16
_ENTRY_BITS = 7


@njit(types.float64(types.Array(types.uint32, 1, "C")), nogil=True, cache=True)
def _cost(counts):  # type: ignore[no-untyped-def]
    """Bits to code these symbols with a table of their own, the table included."""
    total, weighted, present = 0.0, 0.0, 0
    for count in counts:
        if count:
            total += count
            weighted += count * math.log2(count)
            present += 1
    return total * math.log2(total) - weighted + _ENTRY_BITS * present + _TABLE_BITS if present else 0.0


@njit(types.int64(_COUNTS, types.Array(types.uint8, 1, "C")), nogil=True, cache=True)
def share_tables(counts, table_of):  # type: ignore[no-untyped-def]
    """Sets the table of each context and adds up `counts` by table in place; the number of tables."""
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
def _rounded(value):  # type: ignore[no-untyped-def]
    length = 0
    while (value >> length) > 1:
        length += 1
    drop = length - _KEPT_BITS
    if drop <= 0:
        return value
    return ((value + (1 << (drop - 1))) >> drop) << drop


@njit(types.void(types.Array(types.uint32, 1, "C"), types.Array(types.uint16, 1, "C")), nogil=True, cache=True)
def normalise(counts, frequency):  # type: ignore[no-untyped-def]
    """Every symbol present gets at least 1; the most frequent takes what rounding leaves over."""
    total = 0
    largest = 0
    for symbol in range(256):
        total += counts[symbol]
        if counts[symbol] > counts[largest]:
            largest = symbol
        frequency[symbol] = 0
    if total == 0:
        frequency[0] = PROBABILITY_SUM
        return
    for keep in range(2):
        others = 0
        for symbol in range(256):
            if counts[symbol] and symbol != largest:
                wanted = max(1, int(counts[symbol] * PROBABILITY_SUM / total + 0.5))
                frequency[symbol] = _rounded(wanted) if keep == 0 else wanted
                others += frequency[symbol]
        fair = counts[largest] * PROBABILITY_SUM / total
        left = PROBABILITY_SUM - others
        if left >= 0.9 * fair and left >= 1:
            frequency[largest] = left
            return
    # Hundreds of rare symbols: take from those that have most until the largest has its share.
    left = PROBABILITY_SUM - others
    while left < max(1, int(fair / 2)):
        richest = largest
        for symbol in range(256):
            if symbol != largest and (richest == largest or frequency[symbol] > frequency[richest]):
                richest = symbol
        frequency[richest] -= 1
        left += 1
    frequency[largest] = left


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
def _bits(data, place, width):  # type: ignore[no-untyped-def]
    """At most 12 bits, so three bytes hold them."""
    at, size = place >> 3, data.shape[0]
    window = nb.uint32(data[at]) if at < size else nb.uint32(0)
    window |= nb.uint32(data[at + 1]) << nb.uint32(8) if at + 1 < size else nb.uint32(0)
    window |= nb.uint32(data[at + 2]) << nb.uint32(16) if at + 2 < size else nb.uint32(0)
    return nb.int64((window >> nb.uint32(place & 7)) & ((nb.uint32(1) << nb.uint32(width)) - nb.uint32(1)))


@njit(types.int64(types.Array(types.uint8, 1, "C", readonly=True), types.int64, _FREQUENCIES), nogil=True, cache=True)
def read_tables(data, tables, frequency):  # type: ignore[no-untyped-def]
    """Into `frequency`, which is zero; the bytes they took, or -1 if they do not add up."""
    place = 0
    end = data.shape[0] * 8

    for table in range(tables):
        if place + 8 > end:
            return -1
        last = _bits(data, place, 8)
        place += 8
        symbol = 0
        total = 0
        while symbol <= last:
            if place + 4 > end:
                return -1
            length = _bits(data, place, 4)
            place += 4
            if length == 0:
                if place + 4 > end:
                    return -1
                symbol += 1 + _bits(data, place, 4)
                place += 4
                continue
            fine = length - 1 - _KEPT_BITS
            width = length - 1
            if fine > 0:
                if place + 1 > end:
                    return -1
                if not _bits(data, place, 1):
                    width = _KEPT_BITS
                place += 1
            if place + width > end:
                return -1
            extra = _bits(data, place, width)
            place += width
            if fine > 0 and width == _KEPT_BITS:
                extra <<= fine
            value = (1 << (length - 1)) + extra
            total += value
            frequency[table, symbol] = value
            symbol += 1
        if total != PROBABILITY_SUM:
            return -1
    return (place + 7) // 8


@njit(
    types.void(_FREQUENCIES, types.Array(types.uint8, 1, "C"), types.int64, types.Array(types.uint32, 1, "C")),
    nogil=True,
    cache=True,
)
def fill_decoder(frequency, table_of, packed, slots):  # type: ignore[no-untyped-def]
    """Per context 2048 slots of a token's meaning (8 bits), its frequency (12) and the place in it (12)."""
    for context in range(table_of.shape[0]):
        place = context * PROBABILITY_SUM
        for token in range(256):
            value = nb.uint32(frequency[table_of[context], token])
            if value:
                head = (meaning_of(token, packed) << nb.uint32(24)) | (value << nb.uint32(12))
                for offset in range(value):
                    slots[place] = head | nb.uint32(offset)
                    place += 1


@njit(
    types.void(
        _FREQUENCIES,
        types.Array(types.uint8, 1, "C"),
        types.Array(types.uint32, 1, "C"),
        types.Array(types.uint32, 1, "C"),
    ),
    nogil=True,
    cache=True,
)
def fill_encoder(frequency, table_of, ranges, reciprocals):  # type: ignore[no-untyped-def]
    """Per symbol its frequency (above bit 16), where it starts (above bit 4) and a shift; and its reciprocal.

    A state below frequency * 2**20 times the reciprocal, shifted right by 31 and the shift, is the state divided by the
    frequency, exactly: the reciprocal is too large by less than one, the product by less than a frequency * 2**20, and
    that is at most 2 ** (31 + shift) / frequency.
    """
    for context in range(table_of.shape[0]):
        start = nb.uint32(0)
        for token in range(256):
            value = nb.uint32(frequency[table_of[context], token])
            if value:
                shift = nb.uint32(0)
                while (nb.uint32(1) << shift) < value:
                    shift += nb.uint32(1)
                ranges[context * 256 + token] = (value << nb.uint32(16)) | (start << nb.uint32(4)) | shift
                top, wide = nb.uint64(1) << nb.uint64(STATE_BITS + shift), nb.uint64(value)
                reciprocals[context * 256 + token] = nb.uint32((top + wide - nb.uint64(1)) // wide)
                start += value
