"""The structures of c/http/engine.h, and the functions of the compiled client."""

from __future__ import annotations

import ctypes
import mmap
from contextlib import suppress
from ctypes import POINTER, Structure, c_char, c_int, c_int64, c_void_p
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import AssayError
from assay.loadgen.http.exchanges import PIECE, ROW, Exchange
from assay.native.library import declare, library

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


class Settings(Structure):
    _fields_ = (
        ("most_in_flight", c_int64),
        ("most_connections", c_int64),
        ("connect_ns", c_int64),
        ("idle_ns", c_int64),
        ("total_ns", c_int64),
        ("most_answer_bytes", c_int64),
        ("failures_in_a_row", c_int64),
        ("rows", c_void_p),
        ("rows_room", c_int64),
        ("pieces", c_void_p),
        ("pieces_room", c_int64),
        ("bodies", c_void_p),
        ("bodies_room", c_int64),
        ("page", c_void_p),
        ("address", c_char * 128),
        ("address_bytes", c_int64),
    )


class ClientCounters(Structure):
    """Counters of a client that runs, in memory that the process which started it reads meanwhile."""

    _fields_ = tuple(
        (name, c_int64)
        for name in (
            "stop",
            "started_ns",
            "plan_due",
            "later",
            "sent",
            "ended",
            "failed",
            "in_flight",
            "pieces",
            "body_bytes",
            "connections",
            "spun_ns",
            "ended_by",
            "last_errno",
            "cpu_ns",
        )
    )


class PlanStructure(Structure):
    _fields_ = (
        ("messages", c_void_p),
        ("message_bytes", c_void_p),
        ("message_count", c_int64),
        ("order", c_void_p),
        ("at_ns", c_void_p),
        ("count", c_int64),
        ("cancel_ns", c_int64),
        ("cancel_events", c_int64),
        ("grouped", c_int64),
    )


@cache
def functions() -> ctypes.CDLL | None:
    loaded = library()
    if loaded is None:
        return None
    declare(
        loaded,
        {
            "http_open": (c_void_p, (POINTER(Settings),)),
            "http_memory": (None, (c_void_p, c_void_p, c_int64, c_void_p, c_int64, c_void_p, c_int64)),
            "http_connect": (c_int64, (c_void_p, c_int64)),
            "http_plan": (None, (c_void_p, POINTER(PlanStructure))),
            "http_submit": (c_int64, (c_void_p, ctypes.c_char_p, c_int64, c_int64, c_int64, c_int64)),
            "http_run": (c_int, (c_void_p, c_int64, c_int64, c_int64, c_int)),
            "http_ended": (c_int64, (c_void_p, POINTER(c_int64), c_int64)),
            "http_forget": (None, (c_void_p,)),
            "http_close": (None, (c_void_p,)),
        },
    )
    return loaded
