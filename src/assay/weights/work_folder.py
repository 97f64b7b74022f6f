from __future__ import annotations

import fcntl
import os
from pathlib import Path
from shutil import rmtree
from types import TracebackType
from uuid import uuid4

from assay.errors import DataError

PREFIX = "push-"
_ATTEMPTS = 8


class WorkFolder:
    """A folder for files on their way out, beside a repository's other temporary files and without its lock.

    It is locked itself while it is in use, so that a collection leaves it alone; the kernel lets go when its owner
    dies.
    """

    def __init__(self, temporary: Path) -> None:
        self._path = temporary / f"{PREFIX}{uuid4().hex}"
        self._handle = -1

    def __enter__(self) -> Path:
        for _ in range(_ATTEMPTS):
            try:
                self._path.mkdir()
                self._handle = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise DataError(f"{self._path.parent} cannot be written: {error.strerror}") from None
            fcntl.flock(self._handle, fcntl.LOCK_EX)
            # A collection may have removed it before it was locked.
            if self._path.is_dir():
                return self._path
            os.close(self._handle)
        raise DataError(f"{self._path.parent} cannot be written: folders in it vanish; does it exist?")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        rmtree(self._path, ignore_errors=True)
        os.close(self._handle)


def is_in_use(path: Path) -> bool:
    """Whether that is somebody's work folder."""
    if not path.name.startswith(PREFIX):
        return False
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
