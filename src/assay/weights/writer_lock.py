from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from threading import RLock
from types import TracebackType

from assay.errors import DataError, UsageError
from assay.untrusted.writing import open_existing

PATIENCE_S = 60.0


class WriterLock:
    """One writer at a time, over processes and threads; the kernel lets go when a writer dies. May be taken again.

    A process that forks while it is held hands its child the open file, with it the kernel's lock (flock(2)), and the
    state of threads that are not there. So it is unlocked before it is closed, and in a child it begins anew.
    """

    def __init__(self, path: Path, patience_s: float = PATIENCE_S) -> None:
        self._path, self._patience_s = path, patience_s
        self._handle = -1
        self._depth = 0
        self._threads = RLock()
        self._process = os.getpid()

    def __enter__(self) -> WriterLock:
        if self._process != os.getpid():
            self._begin_anew()
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
        if self._process != os.getpid():
            return  # A child that leaves its parent's block: the lock is the parent's.
        self._depth -= 1
        if self._depth == 0:
            fcntl.flock(self._handle, fcntl.LOCK_UN)
            os.close(self._handle)
        self._threads.release()

    def _begin_anew(self) -> None:
        if self._depth:
            os.close(self._handle)
        self._handle, self._depth, self._threads, self._process = -1, 0, RLock(), os.getpid()

    def _take(self) -> None:
        try:
            handle = open_existing(self._path)
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
