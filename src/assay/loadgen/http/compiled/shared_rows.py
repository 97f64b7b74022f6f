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
_HUGE = getattr(mmap, "MADV_HUGEPAGE", None)
_LEAST_BYTES = 1 << 20
_FIRST_ROWS = 1 << 22


class SharedRows:
    """Memory for what one client measures; `shared`: seen by processes forked from this one too.

    It is reserved, not taken: a page of it costs memory when something is written there. Memory of one process alone
    comes in pages of 2 MB where the machine has them, which cost an eighth of the time of as many small shared ones.
    """

    def __init__(self, body_bytes: int, shared: bool = False) -> None:
        self.shared = shared
        self.rows = _reserve(_FIRST_ROWS, ROW, shared)
        self.bodies = _reserve(body_bytes, np.dtype(np.uint8), shared)
        # A receipt of a token brings some tens of bytes, one of several tokens more.
        self.pieces = _reserve(body_bytes // 32, PIECE, shared)

    def resize_rows(self, count: int) -> None:
        """More rows, all zero: before anything is measured."""
        self.rows = _reserve(count, ROW, self.shared)

    def exchange(self, number: int) -> Exchange:
        """A copy of one exchange."""
        row = self.rows[number].copy()
        first, start = int(row["piece_start"]), int(row["body_start"])
        pieces = self.pieces[first : first + int(row["pieces"])].copy()
        return Exchange(row, pieces, self.bodies[start : start + int(row["body_bytes"])].tobytes())


def _reserve(count: int, kind: np.dtype[Any], shared: bool) -> NDArray[Any]:
    """Memory for `count` things, or for as many as this machine lets a process reserve."""
    size = max(count * kind.itemsize, _LEAST_BYTES)
    way = mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE
    while size >= _LEAST_BYTES:
        with suppress(OSError, ValueError, OverflowError):
            memory = mmap.mmap(-1, size, way | mmap.MAP_ANONYMOUS | _NORESERVE)
            if not shared and _HUGE is not None:
                with suppress(OSError):  # a kernel without them
                    memory.madvise(_HUGE)
            return np.frombuffer(memory, kind, size // kind.itemsize)
        size //= 2
    raise AssayError("no memory can be reserved for what the client measures")


def address_of(array: NDArray[np.generic]) -> int:
    return int(array.ctypes.data)


def map_shared_page(kind: type[ctypes.Structure]) -> ctypes.Structure:
    return kind.from_buffer(mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS))
