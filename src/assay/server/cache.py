from __future__ import annotations

import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from assay.analysis import Comparison
from assay.errors import AssayError, DataError
from assay.history.database import Database

if TYPE_CHECKING:
    from assay.server.status_board import StatusBoard


class ChangeCounter:
    """Whether the history has changed since it was last asked: a number that every commit of another process raises.

    SQLite counts the commits that a connection has not made itself (`PRAGMA data_version`), so one connection is kept
    open for nothing else. Times and sizes of files do not tell two commits of one clock tick apart.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._asking = threading.Lock()
        self._open: Database | None = None
        self._file: tuple[int, int] | None = None

    def value(self) -> tuple[int, ...]:
        """Equal values: nothing has changed. Empty while there is no history."""
        with self._asking:
            try:
                stat = self._path.stat()
            except OSError:
                return self._close()
            # Made anew (`--rebuild`), it is another file under the same name.
            if self._file != (stat.st_dev, stat.st_ino):
                self._close()
            try:
                if self._open is None:
                    self._open = Database(self._path, read_only=True)
                    self._file = (stat.st_dev, stat.st_ino)
                [[version]] = self._open.rows("PRAGMA data_version")
            except (DataError, sqlite3.Error):
                self._close()
                return (stat.st_ino, stat.st_mtime_ns, stat.st_size)
            return (stat.st_ino, int(version))

    def _close(self) -> tuple[int, ...]:
        if self._open is not None:
            self._open.close()
        self._open = self._file = None
        return ()


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


_MOST = 100


class KeptComparisons:
    """Comparisons that requests have asked for. Each is made once, and one at a time.

    One over a long history takes seconds of one processor. Clients that ask for the same wait for the one that makes
    it, and those who ask for other pages share the processor with one comparison, not with sixteen. What is kept
    already is given without waiting for what is being made.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[Comparison | None]] = {}
        self._making = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Comparison | None]) -> Comparison | None:
        known = self._kept.get(key)
        if known is not None:
            return known[0]
        with self._making:
            known = self._kept.get(key)
            if known is None:
                known = (make(),)
                if len(self._kept) >= _MOST:
                    self._kept.clear()
                self._kept[key] = known
            return known[0]


_MOST_PAGES = 300
_MOST_BYTES = 64 * 2**20
_LOCKS = 32


@dataclass(frozen=True)
class KeptPage:
    """An answer as it is sent."""

    status: int
    content: bytes
    lasting: bool = True
    """False: it shows what changes with time, such as a session that runs."""


class KeptPages:
    """Pages as they were sent, each until what it rests on has changed: its `state` says so.

    Clients that ask for the same at once wait for the first of them, so that sixteen do not make sixteen.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, tuple[Hashable, KeptPage]] = OrderedDict()
        self._bytes = 0
        self._guard = threading.Lock()
        self._making = [threading.Lock() for _ in range(_LOCKS)]

    def get(self, key: Hashable, state: Hashable, make: Callable[[], KeptPage]) -> KeptPage:
        known = self._find(key, state)
        if known is not None:
            return known
        with self._making[hash(key) % _LOCKS]:
            known = self._find(key, state)
            if known is None:
                known = make()
                if known.lasting:
                    self._keep(key, state, known)
            return known

    def _find(self, key: Hashable, state: Hashable) -> KeptPage | None:
        with self._guard:
            known = self._kept.get(key)
            if known is None or known[0] != state:
                return None
            self._kept.move_to_end(key)
            return known[1]

    def _keep(self, key: Hashable, state: Hashable, page: KeptPage) -> None:
        with self._guard:
            self._drop(key)
            self._kept[key] = state, page
            self._bytes += len(page.content)
            while self._kept and (len(self._kept) > _MOST_PAGES or self._bytes > _MOST_BYTES):
                self._drop(next(iter(self._kept)))

    def _drop(self, key: Hashable) -> None:
        known = self._kept.pop(key, None)
        if known is not None:
            self._bytes -= len(known[1].content)
