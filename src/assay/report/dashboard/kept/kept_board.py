from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import replace
from itertools import count

from assay.errors import AssayError
from assay.report.dashboard.status_board import StatusBoard

_QUICK_S = 0.2
"""Processor time: a board that takes no more of it is made while its reader waits."""


class KeptBoard:
    """The newest board, made anew when the history has changed.

    Over a long history that takes a second or more. The first reader waits for it; later ones are given the last one
    meanwhile, and the new one with their next look.
    """

    def __init__(self) -> None:
        self._key: Hashable = None
        self._board: StatusBoard | None = None
        self._took_s = 0.0
        self._numbers = count(1)
        self._making = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], StatusBoard]) -> StatusBoard:
        board = self._board
        if board is not None and self._key == key:
            return board
        if board is not None and self._took_s > _QUICK_S:
            if self._making.acquire(blocking=False):
                threading.Thread(target=self._remake, args=(key, make), daemon=True).start()
            return board
        with self._making:
            return self._make(key, make)

    def _remake(self, key: Hashable, make: Callable[[], StatusBoard]) -> None:
        try:
            self._make(key, make)
        except AssayError:
            # The next reader waits for it, and is told what is wrong.
            self._board = None
        finally:
            self._making.release()

    def _make(self, key: Hashable, make: Callable[[], StatusBoard]) -> StatusBoard:
        if self._board is None or self._key != key:
            # Processor time: on a busy machine a small board is still made at once.
            begun = time.thread_time()
            self._board, self._key = replace(make(), number=next(self._numbers)), key
            self._took_s = time.thread_time() - begun
        return self._board
