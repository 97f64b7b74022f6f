from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from assay.untrusted.writing import open_new

RESERVE_BYTES = 2 << 20


def free_mb(folder: Path) -> float:
    """Free space on the folder's disk, in MB; where a program removed the folder, on that of the nearest one left."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free / 2**20


class Reserve:
    """Space set aside so that, on a disk that fills up, the record that says so can still be written."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / ".reserve"
        self.take()

    def take(self) -> None:
        try:
            size = min(RESERVE_BYTES, shutil.disk_usage(self._path.parent).free // 10)
            with open_new(self._path, "wb") as file:
                os.posix_fallocate(file.fileno(), 0, max(size, 1))
        except OSError:
            self.release()

    def release(self) -> None:
        with suppress(OSError):  # a program can put anything there
            self._path.unlink(missing_ok=True)

    def writing(self, write: Callable[[], None]) -> None:
        """Does `write`; if the disk is full, once more with the reserve released."""
        try:
            write()
        except OSError:
            self.release()
            write()
