"""Where any of many short texts occurs in a block of bytes: `c/text/needles.c`."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Sequence

from assay.native.library import library

_PAIRS = 1 << 16
_SHORTEST = 3
_ROOM = 4096


class _Struct(ctypes.Structure):
    """`struct needles` of needles.c."""

    _fields_ = (
        ("count", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("texts", "offsets", "at_edge", "bits", "first", "next", "at")),
    )


class Needles:
    """Texts to look for, all at once."""

    def __init__(self, texts: Sequence[bytes], at_edge: Sequence[bool], pairs: Sequence[int]) -> None:
        """`at_edge`: whether a text must not continue a word. `pairs`: where the rarest three bytes of each text begin.

        Raises LookupError where the compiled library is missing or older than this.
        """
        loaded = library()
        if loaded is None or not hasattr(loaded, "assay_needles_find"):
            raise LookupError("the compiled library has no search for texts")
        if any(len(text) < _SHORTEST for text in texts):
            raise ValueError(f"a text of fewer than {_SHORTEST} bytes cannot be looked for")
        self._find = loaded.assay_needles_find
        self._find.restype = ctypes.c_int64
        pointer = ctypes.c_void_p
        self._find.argtypes = (ctypes.c_char_p, ctypes.c_int64, pointer, pointer, pointer, ctypes.c_int64)
        self._room = _ROOM + len(texts)
        self._found = array("q", bytes(16 * self._room))
        self._from = array("q", [0])
        self._tables = _tables(texts, at_edge, pairs)
        self._struct = _Struct(len(texts), *(table.buffer_info()[0] for table in self._tables))

    def find(self, data: bytes) -> list[tuple[int, int]]:
        """Places, and the numbers of the texts that stand there."""
        self._from[0] = 0
        places: list[tuple[int, int]] = []
        where = (ctypes.byref(self._struct), self._from.buffer_info()[0], self._found.buffer_info()[0], self._room)
        while self._from[0] < len(data):
            count = self._find(data, len(data), *where)
            found = self._found[: 2 * count]
            places += zip(found[::2], found[1::2], strict=True)
        return places


def _tables(texts: Sequence[bytes], at_edge: Sequence[bool], pairs: Sequence[int]) -> list[array[int]]:
    offsets = array("q", [0])
    bits, first = bytearray(_PAIRS // 8), array("i", [-1]) * _PAIRS
    following, at = array("i", [-1]) * (2 * len(texts)), array("i")
    for number, text in enumerate(texts):
        offsets.append(offsets[-1] + len(text))
        at.append(min(pairs[number], len(text) - _SHORTEST))
        for entry in (0, 1):
            pair = int.from_bytes(text[at[number] + entry : at[number] + entry + 2], "little")
            bits[pair >> 3] |= 1 << (pair & 7)
            following[2 * number + entry], first[pair] = first[pair], 2 * number + entry
    return [array("B", b"".join(texts)), offsets, array("B", map(int, at_edge)), array("B", bits), first, following, at]
