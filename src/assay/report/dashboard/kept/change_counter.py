from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

from assay.errors import DataError
from assay.history.database import Database


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
