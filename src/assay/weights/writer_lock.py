from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from threading import RLock
from types import TracebackType

from assay.errors import DataError, UsageError

PATIENCE_S = 60.0


class WriterLock:
    """One writer at a time, over processes and threads; the kernel lets go when a writer dies. May be taken again."""

    def __init__(self, path: Path, patience_s: float = PATIENCE_S) -> None:
        self._path, self._patience_s = path, patience_s
        self._handle = -1
        self._depth = 0
        self._threads = RLock()

    def __enter__(self) -> WriterLock:
        self._threads.acquire()
        try:
            if self._depth == 0:
                self._take()
            self._depth += 1
        except BaseException:
            self._threads.release()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._depth -= 1
        if self._depth == 0:
            os.close(self._handle)
        self._threads.release()

    def _take(self) -> None:
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise DataError(f"{self._path.parent} cannot be written: {error.strerror}") from None
        until = time.monotonic() + self._patience_s
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    os.close(handle)
                    raise UsageError(
                        f"another process is writing to {self._path.parent}; try again when it is done"
                    ) from None
                time.sleep(0.02)
        self._handle = handle
