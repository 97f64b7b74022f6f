from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from types import TracebackType
from typing import Self

from assay.untrusted.writing import open_existing

_PREFIX = "assay-load-"


class SharedFolder:
    """A folder for mapped files, in memory where there is such a place; gone when it closes.

    Its owner holds a lock on it. One that was killed could not clean up, but its lock is free: whoever comes next
    removes what it left. (A lock, not a process id: ids mean nothing across containers that share /dev/shm.)
    """

    def __init__(self) -> None:
        place = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else Path(gettempdir())
        _remove_orphans(place)
        self.path = Path(mkdtemp(prefix=_PREFIX, dir=place))
        self._lock = open_existing(self.path / "lock", permissions=0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _remove_orphans(place: Path) -> None:
    for folder in place.glob(f"{_PREFIX}*"):
        try:
            lock = os.open(folder / "lock", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            # Another user's, or not locked yet: it was made a moment ago.
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue
        finally:
            os.close(lock)
