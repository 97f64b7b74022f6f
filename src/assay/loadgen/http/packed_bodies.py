"""Bodies in a file, made small: blocks in the LZ4 block format, each with its two lengths before it.

8 bytes   packed length of the block, then its length, both 32 bits, little-endian
...       the block; where both lengths are the same it is not packed
"""

from __future__ import annotations

import ctypes
import struct
from ctypes import c_char_p, c_int, c_size_t, c_void_p
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.errors import DataError
from assay.native.library import declare, library
from assay.untrusted.writing import open_new

_BLOCK = 1 << 20
_HEAD = struct.Struct("<II")
_MOST_RATIO = 255
"""Largest factor by which LZ4 can make anything smaller: a file that claims more is damaged."""


@cache
def _functions() -> ctypes.CDLL | None:
    loaded = library()
    if loaded is not None:
        signatures = {
            "pack_room": (c_size_t, (c_size_t,)),
            "pack_bytes": (c_size_t, (c_void_p, c_size_t, c_void_p)),
            "unpack_bytes": (c_int, (c_char_p, c_size_t, c_void_p, c_size_t)),
        }
        declare(loaded, signatures)
    return loaded


def write_bodies(path: Path, bodies: NDArray[np.uint8]) -> None:
    loaded = _functions()
    bodies = np.ascontiguousarray(bodies)
    room = np.empty(loaded.pack_room(_BLOCK) if loaded else 0, np.uint8)
    with open_new(path, "wb") as file:
        for start in range(0, len(bodies), _BLOCK):
            block = bodies[start : start + _BLOCK]
            packed = loaded.pack_bytes(block.ctypes.data, len(block), room.ctypes.data) if loaded else len(block)
            small = packed < len(block)
            file.write(_HEAD.pack(packed if small else len(block), len(block)))
            file.write((room[:packed] if small else block).data)


def read_bodies(path: Path) -> NDArray[np.uint8]:
    data = path.read_bytes()
    blocks = []
    at = 0
    while at < len(data):
        if len(data) - at < _HEAD.size:
            raise DataError(f"{path}: the file is damaged: it ends in the middle of a block")
        packed, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        if packed > len(data) - at or length > packed * _MOST_RATIO or packed > length:
            raise DataError(f"{path}: the file is damaged: a block is not as long as it says")
        blocks.append(_unpack(data[at : at + packed], length, path))
        at += packed
    return np.concatenate(blocks) if blocks else np.zeros(0, np.uint8)


def _unpack(packed: bytes, length: int, path: Path) -> NDArray[np.uint8]:
    if len(packed) == length:
        return np.frombuffer(packed, np.uint8)
    loaded = _functions()
    if loaded is None:
        block = np.frombuffer(unpack_plain(packed), np.uint8)
        good = len(block) == length
    else:
        block = np.empty(length, np.uint8)
        good = bool(loaded.unpack_bytes(packed, len(packed), block.ctypes.data, length))
    if not good:
        raise DataError(f"{path}: the file is damaged: a block cannot be unpacked")
    return block


def unpack_plain(packed: bytes) -> bytes:
    """A block unpacked in Python; nothing where it is damaged."""
    made, at = bytearray(), 0
    try:
        while True:
            token, at = packed[at], at + 1
            literals, at = _length(packed, at, token >> 4)
            if at + literals > len(packed):
                return b""
            made += packed[at : at + literals]
            at += literals
            if at == len(packed):
                return bytes(made)
            distance = packed[at] | packed[at + 1] << 8
            match, at = _length(packed, at + 2, token & 15)
            if not 0 < distance <= len(made):
                return b""
            for _ in range(match + 4):
                made.append(made[-distance])
    except IndexError:
        return b""


def _length(packed: bytes, at: int, length: int) -> tuple[int, int]:
    if length == 15:
        while packed[at] == 255:
            length, at = length + 255, at + 1
        length, at = length + packed[at], at + 1
    return length, at
