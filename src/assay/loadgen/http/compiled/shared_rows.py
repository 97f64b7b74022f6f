from __future__ import annotations

import ctypes
import mmap
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import AssayError
from assay.loadgen.http.exchanges import PIECE, ROW, Exchange

_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)
_LEAST_BYTES = 1 << 20
_FIRST_ROWS = 1 << 22


class SharedRows:
    """Memory for what one client measures, seen by processes forked from this one.

    It is reserved, not taken: a page of it costs memory when something is written there.
    """

    def __init__(self, body_bytes: int) -> None:
        self.rows = _reserve(_FIRST_ROWS, ROW)
        self.bodies = _reserve(body_bytes, np.dtype(np.uint8))
        # A receipt of a token brings some tens of bytes, one of several tokens more.
        self.pieces = _reserve(body_bytes // 32, PIECE)

    def resize_rows(self, count: int) -> None:
        """More rows, all zero: before anything is measured."""
        self.rows = _reserve(count, ROW)

    def exchange(self, number: int) -> Exchange:
        """A copy of one exchange."""
        row = self.rows[number].copy()
        first, start = int(row["piece_start"]), int(row["body_start"])
        pieces = self.pieces[first : first + int(row["pieces"])].copy()
        return Exchange(row, pieces, self.bodies[start : start + int(row["body_bytes"])].tobytes())


def _reserve(count: int, kind: np.dtype[Any]) -> NDArray[Any]:
    """Shared memory for `count` things, or for as many as this machine lets a process reserve."""
    size = max(count * kind.itemsize, _LEAST_BYTES)
    while size >= _LEAST_BYTES:
        with suppress(OSError, ValueError, OverflowError):
            memory = mmap.mmap(-1, size, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | _NORESERVE)
            return np.frombuffer(memory, kind, size // kind.itemsize)
        size //= 2
    raise AssayError("no memory can be reserved for what the client measures")


def address_of(array: NDArray[np.generic]) -> int:
    return int(array.ctypes.data)


def shared_page(kind: type[ctypes.Structure]) -> ctypes.Structure:
    return kind.from_buffer(mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS))
