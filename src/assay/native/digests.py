"""128-bit digests of texts under a secret key, and which of them repeat: `c/keys/digest.h` says how and how sure."""

from __future__ import annotations

import ctypes
import os
from array import array
from collections.abc import Sequence
from functools import cache
from itertools import accumulate

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


# A set of ids that whole columns are looked up in: `c/keys/id_table.c`. Ids are compared byte by byte.

ASK = 2
"""What `find` says of a value of another kind than the ids: the caller has to look for itself."""


class IdTable:
    def __init__(self, ids: Sequence[bytes], kind: int) -> None:
        """`kind`: PLAIN for texts (in UTF-8), INTEGER for whole numbers (their digits)."""
        self.kind = kind
        self._key = os.urandom(KEY)
        self._content = b"".join(ids)
        self._offsets = int64s(len(ids) + 1)
        for at, end in enumerate(accumulate(map(len, ids)), 1):
            self._offsets[at] = end
        self._slots = int64s(slots_for(len(ids)))
        where = (self._content, address(self._offsets), len(ids))
        self._different = _id_library().assay_ids_fill(*where, self._key, address(self._slots), len(self._slots))

    def __len__(self) -> int:
        return int(self._different)

    def find(self, block: Buffer, values: memoryview, kinds: memoryview) -> tuple[bytearray, int]:
        """A byte for each value (`Fields.column`): 1 if it is in the set, 0 if not, ASK; and how many are ASK."""
        rows, room = len(kinds), longest(values)
        found, scratch = bytearray(rows), bytearray(room)
        left = _id_library().assay_ids_find(
            *(address(block), len(block), address(values), address(kinds), rows, self.kind),
            *(self._content, address(self._offsets), self._key, address(self._slots), len(self._slots)),
            *(address(scratch), room, address(found)),
        )
        if left < 0:
            raise ValueError(f"the values of {rows} rows are not those of this block")
        return found, int(left)


@cache
def _id_library() -> ctypes.CDLL:
    number, pointer, size, text = ctypes.c_int64, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
    values = (pointer, size, pointer, pointer, number, ctypes.c_int)
    return require(
        {
            "assay_ids_fill": (number, (text, pointer, number, text, pointer, number)),
            "assay_ids_find": (number, (*values, text, pointer, text, pointer, number, pointer, number, pointer)),
        }
    )
