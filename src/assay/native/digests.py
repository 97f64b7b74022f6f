"""128-bit digests of texts under a secret key, and which of them repeat: `c/keys/digest.h` says how and how sure."""

from __future__ import annotations

import ctypes
from functools import cache

from assay.native.json_fields import Buffer, address, int64s, longest
from assay.native.library import declare, library

KEY = DIGEST = 16
"""Bytes of a key (from `os.urandom`, one for a run) and of a digest."""


def digests(block: Buffer, values: memoryview, kinds: memoryview, key: bytes) -> tuple[bytearray, int]:
    """DIGEST bytes a value of one field (`Fields.column`), and how many values are no text, no whole number and not
    null: those have zeros."""
    rows, room = len(kinds), longest(values)
    made, scratch = bytearray(DIGEST * rows), bytearray(room)
    where = (address(block), len(block), address(values), address(kinds), rows)
    others = _library().assay_digests(*where, _checked(key), address(scratch), room, address(made))
    if others < 0:
        raise ValueError(f"the values of {rows} rows are not those of this block")
    return made, int(others)


def first_rows(made: Buffer) -> tuple[memoryview, int]:
    """For each digest the number of the first row that has it, and how many rows are not the first."""
    rows = len(made) // DIGEST
    firsts, slots = int64s(rows), int64s(slots_for(rows))
    repeats = _library().assay_repeats(address(made), rows, address(slots), len(slots), address(firsts))
    return firsts, int(repeats)


def slots_for(rows: int) -> int:
    """Slots of a table that is at most half full: a power of two."""
    return 1 << max(4, (2 * rows).bit_length())


def _checked(key: bytes) -> bytes:
    if len(key) != KEY:
        raise ValueError(f"a key has {KEY} bytes, not {len(key)}")
    return key


@cache
def _library() -> ctypes.CDLL:
    loaded = library()
    if loaded is None:
        raise RuntimeError("the compiled library is not there: ask library() first")
    number, pointer, size = ctypes.c_int64, ctypes.c_void_p, ctypes.c_size_t
    values = (pointer, size, pointer, pointer, number)
    declare(
        loaded,
        {
            "assay_digests": (number, (*values, ctypes.c_char_p, pointer, number, pointer)),
            "assay_repeats": (number, (pointer, number, pointer, number, pointer)),
        },
    )
    return loaded
