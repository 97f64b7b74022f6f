"""128-bit digests of texts under a secret key, and which of them repeat: `c/keys/digest.h` says how and how sure."""

from __future__ import annotations

import ctypes
from array import array
from functools import cache

from assay.native.json_fields import Buffer, address, int64s, longest
from assay.native.library import require

KEY = 16 + 1024 + 16
"""Bytes of a key: from `os.urandom`, one for a run."""
DIGEST = 16
"""Bytes of a digest."""


def digests(block: Buffer, values: memoryview, kinds: memoryview, key: bytes) -> tuple[bytearray, int]:
    """DIGEST bytes a value of one field (`Fields.column`), and how many values are no text, no whole number and not
    null: those have zeros."""
    rows, room = len(kinds), longest(values)
    made, scratch = bytearray(DIGEST * rows), bytearray(room)
    where = (address(block), len(block), address(values), address(kinds), rows)
    others = _library().assay_digests(*where, _check_key(key), address(scratch), room, address(made))
    if others < 0:
        raise ValueError(f"the values of {rows} rows are not those of this block")
    return made, int(others)


class RangeOfDigests:
    """Digests of one range out of several, gathered from many documents, to find those that repeat."""

    def __init__(self, range_number: int, ranges: int) -> None:
        self._range, self._ranges = range_number, ranges
        self._digests, self._numbers = bytearray(), bytearray()

    def add(self, made: bytearray, first: int) -> None:
        """Digests of documents that follow one another, the first of which has this number."""
        rows = len(made) // DIGEST
        to, numbers = bytearray(len(made)), bytearray(8 * rows)
        count = _library().assay_digests_in_range(
            address(made), rows, first, self._range, self._ranges, address(to), address(numbers)
        )
        self._digests += memoryview(to)[: DIGEST * count]
        self._numbers += memoryview(numbers)[: 8 * count]

    def repeats(self) -> memoryview:
        """Pairs of document numbers, the first that has a digest and one that repeats it, in order of the latter."""
        rows = len(self._numbers) // 8
        slots, pairs = int64s(slots_for(rows)), int64s(2 * rows)
        found = _library().assay_repeats(
            address(self._digests), address(self._numbers), rows, address(slots), len(slots), address(pairs)
        )
        return pairs[: 2 * found]


def shift(numbers: array[int], by: int) -> None:
    """Adds to each of them."""
    _library().assay_shift(numbers.buffer_info()[0], len(numbers), by)


def slots_for(rows: int) -> int:
    """Slots of a table that is at most half full: a power of two."""
    return 1 << max(4, (2 * rows).bit_length())


def _check_key(key: bytes) -> bytes:
    if len(key) != KEY:
        raise ValueError(f"a key has {KEY} bytes, not {len(key)}")
    return key


@cache
def _library() -> ctypes.CDLL:
    number, pointer, size = ctypes.c_int64, ctypes.c_void_p, ctypes.c_size_t
    values = (pointer, size, pointer, pointer, number)
    return require(
        {
            "assay_digests": (number, (*values, ctypes.c_char_p, pointer, number, pointer)),
            "assay_shift": (None, (pointer, number, number)),
            "assay_digests_in_range": (number, (pointer, number, number, number, number, pointer, pointer)),
            "assay_repeats": (number, (pointer, pointer, number, pointer, number, pointer)),
        }
    )
