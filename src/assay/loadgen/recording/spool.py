from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.loadgen.board import COLUMNS, DROPPED, HEAD, ROW, TAIL, Board
from assay.untrusted.writing import open_new

Rows = NDArray[np.void]
"""Structured rows with the columns of `board.COLUMNS`."""
DTYPE: Final = np.dtype([(name, np.int64) for name in COLUMNS])
_EVERY_S = 0.02


class Spool:
    """Moves rows from a board's ring into a file as they are. What reads them later sees all of a run, however long."""

    def __init__(self, board: Board, path: Path, seen: Callable[[Rows], None] | None = None) -> None:
        self._board = board
        self._ring = np.frombuffer(board.rows, DTYPE)
        self._seen = seen
        self.path = path
        self._file = open_new(path, "wb")

    def drain(self) -> int:
        page, capacity = self._board.page, self._board.capacity
        head, tail = page[HEAD], page[TAIL]
        if head == tail:
            return 0
        first, last = tail % capacity, head % capacity
        parts = [self._ring[first:last]] if first < last else [self._ring[first:], self._ring[:last]]
        for part in parts:
            self._file.write(part.data)
            if self._seen is not None and len(part):
                self._seen(part)
        page[TAIL] = head
        return int(head - tail)

    def close(self) -> None:
        if not self._file.closed:
            self.drain()
            self._file.close()
            del self._ring

    @property
    def dropped(self) -> int:
        return int(self._board.page[DROPPED])


class SpoolThread:
    """Drains in the background, for a pipeline that runs in the caller's process."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._end = Event()
        self._thread = Thread(target=self._run, daemon=True, name="spool")

    def __enter__(self) -> SpoolThread:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._end.set()
        self._thread.join()
        self._spool.close()

    def _run(self) -> None:
        while not self._end.wait(_EVERY_S):
            self._spool.drain()


def read_rows(path: Path) -> Rows:
    """A row that was cut off in the middle of writing is left out."""
    whole = path.stat().st_size // ROW.size
    return np.memmap(path, DTYPE, "r", shape=(whole,)) if whole else np.empty(0, DTYPE)
