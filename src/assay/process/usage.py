from __future__ import annotations

import os
import time
import tracemalloc
from dataclasses import dataclass
from typing import Self

from assay.process.tree import cpu_s, io_fields, scheduled_s, status_bytes


class AllocationMeter:
    """The most bytes that Python and numpy hold at once during a block, above what they held at its start.

    Resident memory does not show it in a process that has done other work: the allocator reuses what was freed. Traced
    code is several times as slow, so nothing is timed meanwhile.
    """

    def __init__(self) -> None:
        self.peak = 0

    def __enter__(self) -> Self:
        tracemalloc.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()


class MemoryMeter:
    """The most memory a process holds during a block, above what it held at its start.

    Linux keeps the peak of resident memory and forgets it when 5 is written to clear_refs (proc(5)). Pages that an
    allocator keeps from earlier work are not counted again, so only a fresh process tells the whole of it.
    """

    def __init__(self, pid: int | None = None) -> None:
        self._pid = pid or os.getpid()
        self.before = self.peak = self.after = 0

    def __enter__(self) -> Self:
        self.before = self.resident()
        with open(f"/proc/{self._pid}/clear_refs", "w") as peak:
            peak.write("5")
        return self

    def __exit__(self, *_: object) -> None:
        self.peak = max(status_bytes(self._pid, "VmHWM"), self.before)
        self.after = self.resident()

    @property
    def extra(self) -> int:
        return self.peak - self.before

    def resident(self) -> int:
        return status_bytes(self._pid, "VmRSS")


@dataclass(frozen=True)
class Used:
    wall_s: float
    cpu_s: float
    read_mb: float
    written_mb: float
    """Megabytes that reached or came from the file system, cached or not (rchar and wchar of proc(5))."""
    queued_s: float = 0.0
    """Ready to run while other processes had the cores (schedstat), which is neither work nor waiting for a disk."""

    @property
    def cores(self) -> float:
        return self.cpu_s / max(self.wall_s, 1e-9)

    @property
    def bottleneck(self) -> str:
        """Where the time would have gone with the cores to itself."""
        own = self.cpu_s / max(self.wall_s - self.queued_s, 1e-9)
        return "CPU" if own >= 0.8 else "I/O" if own < 0.5 else "CPU and I/O"


class UsageMeter:
    """CPU and I/O of this process, and of `pid` where another works for it, during a block."""

    def __init__(self, pid: int | None = None) -> None:
        self._pid = pid
        self.used = Used(0, 0, 0, 0)

    def __enter__(self) -> Self:
        self._before = self._now()
        return self

    def __exit__(self, *_: object) -> None:
        wall, cpu, queued, read, written = (new - old for new, old in zip(self._now(), self._before, strict=True))
        self.used = Used(wall, cpu, read / 1e6, written / 1e6, queued)

    def _now(self) -> tuple[float, float, float, float, float]:
        pids = [os.getpid()] if self._pid is None else [os.getpid(), self._pid]
        cpu = time.process_time() + sum(cpu_s(pid) for pid in pids[1:])
        queued = scheduled_s(pids[-1])[1]
        io = [io_fields(pid) for pid in pids]
        read, written = (float(sum(int(fields[at]) for fields in io)) for at in (1, 3))
        return time.perf_counter(), cpu, queued, read, written
