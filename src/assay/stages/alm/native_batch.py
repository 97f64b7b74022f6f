from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

_idle: list[int] = []
"""Batches that are no longer used; their memory is warm for the next block."""
_MOST_IDLE = 4


class NativeBatch:
    """A block's recordings as the compiled kernel holds them. Travels to another process as bytes."""

    def __init__(self) -> None:
        from assay.stages.alm.kernel import library

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
        from assay.stages.alm.kernel import Counts

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
