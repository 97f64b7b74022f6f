"""A schedule and what has been sent of it, shared by a sender process and the pipeline that receives.

Every query has its own word for its send time, so nothing can overflow; a schedule without an end has room for more
queries than are ever sent, and takes memory as they are (the file is sparse). The pipeline writes arrivals well before
their time. The sender owns HEAD, HELD and FINISHED, the pipeline the rest; a receiver with nothing to do waits on an
eventfd.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Final

START_AT: Final = 0
STOP: Final = 1
HEAD: Final = 2
COMPLETED: Final = 3
HELD: Final = 4
READY: Final = 5
FINISHED: Final = 6
WAITING: Final = 7
DEPTH: Final = 8
DRAWN: Final = 9
"""Number of arrivals written so far."""
PAGE: Final = 16


class Channel:
    def __init__(self, path: Path, count: int, create: bool = True) -> None:
        self.path = path
        size = (PAGE + 2 * count) * 8
        descriptor = os.open(path, os.O_RDWR | (os.O_CREAT | os.O_EXCL if create else 0), 0o600)
        try:
            if create:
                os.ftruncate(descriptor, size)
            self._map = mmap.mmap(descriptor, size)
        finally:
            os.close(descriptor)
        words = memoryview(self._map).cast("q")
        self.page = words[:PAGE]
        self.arrivals = words[PAGE : PAGE + count]
        self.sent = words[PAGE + count :]

    @classmethod
    def open(cls, path: Path) -> Channel:
        return cls(path, (path.stat().st_size // 8 - PAGE) // 2, create=False)
