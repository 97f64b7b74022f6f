"""A set of ids that whole columns are looked up in: `c/keys/id_table.c`. Ids are compared byte by byte."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from functools import cache
from itertools import accumulate

from assay.native.digests import KEY, slots_for
from assay.native.json_fields import Buffer, address, int64s, longest
from assay.native.library import require

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
        self._different = _library().assay_ids_fill(*where, self._key, address(self._slots), len(self._slots))

    def __len__(self) -> int:
        return int(self._different)

    def find(self, block: Buffer, values: memoryview, kinds: memoryview) -> tuple[bytearray, int]:
        """A byte for each value (`Fields.column`): 1 if it is in the set, 0 if not, ASK; and how many are ASK."""
        rows, room = len(kinds), longest(values)
        found, scratch = bytearray(rows), bytearray(room)
        left = _library().assay_ids_find(
            *(address(block), len(block), address(values), address(kinds), rows, self.kind),
            *(self._content, address(self._offsets), self._key, address(self._slots), len(self._slots)),
            *(address(scratch), room, address(found)),
        )
        if left < 0:
            raise ValueError(f"the values of {rows} rows are not those of this block")
        return found, int(left)


@cache
def _library() -> ctypes.CDLL:
    number, pointer, size, text = ctypes.c_int64, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
    values = (pointer, size, pointer, pointer, number, ctypes.c_int)
    return require(
        {
            "assay_ids_fill": (number, (text, pointer, number, text, pointer, number)),
            "assay_ids_find": (number, (*values, text, pointer, text, pointer, number, pointer, number, pointer)),
        }
    )
