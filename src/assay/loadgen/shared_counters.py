"""What a pipeline's process and those who watch it share: a page of counters and a ring of event rows.

One writer, one reader, int64 everywhere, in a file mapped by both. The writer owns HEAD and the counters, the reader
owns TAIL and STOP, so no lock is needed: a single-producer ring (Lamport, "Specifying Concurrent Program Modules",
1983); on x86 and with one aligned word a store, a reader never sees a row before its HEAD. The page outlives the
process: what it measured, and the query and stage it was in, are there after a crash or a SIGKILL.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import shutil
from contextlib import suppress
from pathlib import Path
from struct import Struct
from tempfile import gettempdir, mkdtemp
from types import TracebackType
from typing import Final, Self

from assay.files.writing import open_existing

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


STATE: Final = 0
START_AT: Final = 1
"""Written by the watcher: the instant, on the monotonic clock, at which all pipelines begin."""
STOP: Final = 2
SENT: Final = 3
COMPLETED: Final = 4
FAILED: Final = 5
DROPPED: Final = 6
"""Rows that found the ring full."""
HEAD: Final = 7
TAIL: Final = 8
HELD: Final = 9
"""Sends that waited because `queue_depth` queries were in flight."""
CUT: Final = 10
"""Times a query was turned away from a stage it had visited `max_visits` times."""
STARTED_AT: Final = 11
ENDED_AT: Final = 12
CPU_NS: Final = 13
"""CPU time of the process between STARTED_AT and ENDED_AT."""
IGNORED: Final = 14
"""Branches that came second to a stage that takes the first."""
PAUSED_NS: Final = 15
"""Written by the watcher: time for which the pipeline was kept standing still."""
PLACES: Final = 16
"""First of two words for each worker: the query it has and the stage it is in (0 = none, else id + 1)."""
WORKERS: Final = 120
PAGE: Final = PLACES + 2 * WORKERS

STARTING: Final = 0
READY: Final = 1
RUNNING: Final = 2
DONE: Final = 3

COLUMNS: Final = ("query", "stage", "intended", "start", "end", "first", "items", "status")
ROW: Final = Struct(f"{len(COLUMNS)}q")
PIPELINE: Final = -1
TEST: Final = -2
OK: Final = 0
ERROR: Final = 1
CAPACITY: Final = 1 << 18
"""Rows in the ring: 16 MiB, a tenth of a second of the fastest writer. Only what is used takes memory."""


class Board:
    def __init__(self, path: Path, capacity: int = CAPACITY, create: bool = True) -> None:
        if capacity & (capacity - 1):
            raise ValueError("the ring's capacity must be a power of two")
        self.path = path
        self.capacity = capacity
        size = PAGE * 8 + capacity * ROW.size
        descriptor = os.open(path, os.O_RDWR | (os.O_CREAT | os.O_EXCL if create else 0), 0o600)
        try:
            if create:
                os.ftruncate(descriptor, size)
            self._map = mmap.mmap(descriptor, size)
        finally:
            os.close(descriptor)
        whole = memoryview(self._map)
        self.page = whole[: PAGE * 8].cast("q")
        self.rows = whole[PAGE * 8 :]

    @classmethod
    def open(cls, path: Path) -> Board:
        capacity = (path.stat().st_size - PAGE * 8) // ROW.size
        return cls(path, capacity, create=False)

    @property
    def in_flight(self) -> int:
        page = self.page
        return max(page[SENT] - page[COMPLETED] - page[FAILED], 0)

    def places(self) -> list[tuple[int, int]]:
        """(query, stage id) of every worker that is inside a stage now."""
        words = [(self.page[PLACES + 2 * n], self.page[PLACES + 2 * n + 1]) for n in range(WORKERS)]
        return [(query, stage - 1) for query, stage in words if stage]

    def write(
        self,
        query: int,
        stage: int,
        intended: int,
        start: int,
        end: int,
        first: int = 0,
        items: int = 0,
        status: int = OK,
    ) -> None:
        """A row, published at once. Only for one thread at a time; the inline chain writes its rows itself."""
        page = self.page
        head = page[HEAD]
        if head - page[TAIL] >= self.capacity:
            page[DROPPED] += 1
            return
        offset = (head & (self.capacity - 1)) * ROW.size
        ROW.pack_into(self.rows, offset, query, stage, intended, start, end, first, items, status)
        page[HEAD] = head + 1

    def close(self) -> None:
        self.page.release()
        self.rows.release()
        # While somebody still looks at the map it cannot be closed; it goes when they do.
        with suppress(BufferError):
            self._map.close()
