"""What ALM curation calls in the compiled core (`native/c/alm/`): structures, signatures, parameters."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from functools import cache
from itertools import count
from typing import Any

from assay.native.library import Signature, declare
from assay.native.library import library as core
from assay.stages.alm.parameters import BuilderParameters, OverlapParameters
from assay.stages.alm.recording import normal_form

__all__ = ["BAD", "NATIVE", "PLAIN", "Counts", "Parameters", "byref", "library"]


NATIVE, PLAIN, BAD = 0, 1, 2
_serial = count(1)


class Parameters(ctypes.Structure):
    _fields_ = (
        ("serial", c_uint64),
        ("lo", c_double),
        ("hi", c_double),
        ("min_rate", c_double),
        ("min_bandwidth", c_double),
        ("threshold", c_double),
        ("target", c_double),
        ("min_speakers", c_int64),
        ("max_speakers", c_int64),
        ("truncation", c_int32),
        ("keep_segments", c_int32),
        ("drop", c_char_p),
        ("drop_size", c_uint64),
        ("drop_top", c_char_p),
        ("drop_top_size", c_uint64),
    )


class Counts(ctypes.Structure):
    _fields_ = (
        ("rows", c_int64),
        ("native", c_int64),
        ("with_windows", c_int64),
        ("windows", c_int64),
        ("filtered", c_int64),
        ("truncation_events", c_int64),
        ("duration", c_double),
    )


_SIGNATURES: dict[str, Signature] = {
    "alm_new": (c_void_p, ()),
    "alm_free": (None, (c_void_p,)),
    "alm_keep_memory": (None, ()),
    "alm_lines": (c_int64, (c_char_p, c_uint64)),
    "alm_build": (c_int64, (c_void_p, c_char_p, c_uint64, POINTER(Parameters))),
    "alm_overlap": (c_int64, (c_void_p, POINTER(Parameters))),
    "alm_counts": (None, (c_void_p, POINTER(Counts))),
    "alm_find": (c_int64, (c_void_p, c_int64, c_uint32, POINTER(c_uint64))),
    "alm_set_kind": (None, (c_void_p, c_int64, c_uint32)),
    "alm_durations": (None, (c_void_p, POINTER(c_double))),
    "alm_digest": (c_int64, (c_void_p, POINTER(c_uint64), POINTER(c_uint64))),
    "alm_write": (c_int64, (c_void_p, c_int64, c_int64, c_int, POINTER(c_void_p))),
    "alm_save": (c_uint64, (c_void_p, c_void_p)),
    "alm_load": (c_int64, (c_void_p, c_char_p, c_uint64)),
    "alm_float": (c_int64, (c_double, c_char_p)),
}


@cache
def library() -> Any:
    """The compiled core with what ALM calls in it, or None where the package was installed without it."""
    loaded = core()
    if loaded is None:
        return None
    declare(loaded, _SIGNATURES)
    loaded.alm_keep_memory()
    return loaded


def builder_parameters(parameters: BuilderParameters) -> Parameters:
    drop, drop_top = _names(parameters.dropped), _names(parameters.dropped_top_level)
    return Parameters(
        serial=next(_serial),
        lo=parameters.lo,
        hi=parameters.hi,
        min_rate=parameters.min_sample_rate,
        min_bandwidth=parameters.min_bandwidth,
        min_speakers=parameters.min_speakers,
        max_speakers=parameters.max_speakers,
        truncation=parameters.truncation,
        keep_segments="segments" not in parameters.dropped_top_level,
        drop=drop,
        drop_size=len(drop),
        drop_top=drop_top,
        drop_top_size=len(drop_top),
    )


def overlap_parameters(parameters: OverlapParameters) -> Parameters:
    return Parameters(threshold=parameters.threshold, target=parameters.target_duration)


def _names(names: frozenset[str]) -> bytes:
    """The names as they stand in a normal-form line, without their quotes, each ended by a zero byte."""
    return b"".join(normal_form(name).encode()[1:-1] + b"\0" for name in sorted(names))


_idle: list[int] = []
"""Batches that are no longer used; their memory is warm for the next block."""
_MOST_IDLE = 4


class NativeBatch:
    """A block's recordings as the compiled kernel holds them. Travels to another process as bytes."""

    def __init__(self) -> None:

        self._library = library()
        if self._library is None:
            raise RuntimeError("this batch was made by the compiled library, which is missing here")
        self._handle = _idle.pop() if _idle else self._library.alm_new()
        if not self._handle:
            raise MemoryError

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle and len(_idle) < _MOST_IDLE:
            _idle.append(handle)
        elif handle:
            self._library.alm_free(handle)

    def build(self, data: bytes, parameters: Any) -> int:
        return self._check(self._library.alm_build(self._handle, data, len(data), parameters))

    def overlap(self, parameters: Any) -> int:
        return self._check(self._library.alm_overlap(self._handle, parameters))

    def rows_of(self, kind: int) -> Iterator[tuple[int, int, int]]:
        """Row, and where its line is in the block."""
        from ctypes import c_uint64

        line = (c_uint64 * 2)()
        row = self._library.alm_find(self._handle, 0, kind, line)
        while row >= 0:
            yield row, line[0], line[1]
            row = self._library.alm_find(self._handle, row + 1, kind, line)

    def set_kind(self, row: int, kind: int) -> None:
        self._library.alm_set_kind(self._handle, row, kind)

    def counts(self) -> Any:

        counts = Counts()
        self._library.alm_counts(self._handle, counts)
        return counts

    def durations(self, rows: int) -> list[float]:
        from ctypes import c_double

        durations = (c_double * rows)()
        self._library.alm_durations(self._handle, durations)
        return list(durations)

    def digest(self, rows: int, plain: dict[int, int]) -> tuple[int, int]:
        """Digest of all rows in order, and their number; `plain` has the digests of rows that were done in Python."""
        from ctypes import c_uint64

        given = (c_uint64 * rows)()
        for row, digest in plain.items():
            given[row] = digest
        total = c_uint64()
        count = self._check(self._library.alm_digest(self._handle, given, total))
        return total.value, count

    def write(self, start: int, stop: int, fd: int) -> int:
        from ctypes import c_void_p, get_errno

        written = self._library.alm_write(self._handle, start, stop, fd, c_void_p())
        if written == -2:
            raise OSError(get_errno(), os.strerror(get_errno()))
        return self._check(written)

    def json_lines(self, start: int, stop: int) -> bytes:
        from ctypes import c_void_p, string_at

        text = c_void_p()
        size = self._check(self._library.alm_write(self._handle, start, stop, -1, text))
        return string_at(text, size) if size else b""

    def __getstate__(self) -> bytes:
        from ctypes import create_string_buffer

        size = self._library.alm_save(self._handle, None)
        saved = create_string_buffer(size)
        self._library.alm_save(self._handle, saved)
        return saved.raw

    def __setstate__(self, saved: bytes) -> None:
        NativeBatch.__init__(self)
        self._check(self._library.alm_load(self._handle, saved, len(saved)))

    def _check(self, answer: int) -> int:
        if answer < 0:
            raise MemoryError
        return answer
