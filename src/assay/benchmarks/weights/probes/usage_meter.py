from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Used:
    wall_s: float
    cpu_s: float
    read_mb: float
    written_mb: float
    """What reached or came from the file system, cached or not (rchar and wchar of proc(5))."""
    queued_s: float = 0.0
    """Ready to run while other processes had the cores (schedstat), which is neither work nor waiting for a disk."""

    @property
    def cores(self) -> float:
        return self.cpu_s / max(self.wall_s, 1e-9)

    @property
    def bottleneck(self) -> str:
        """What the time would have gone to with the cores to itself."""
        own = self.cpu_s / max(self.wall_s - self.queued_s, 1e-9)
        return "CPU" if own >= 0.8 else "I/O" if own < 0.5 else "CPU and I/O"


class UsageMeter:
    """CPU and I/O of this process, and of `pid` if a store works in one of its own, during a block."""

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
        io = _io(os.getpid())
        cpu = time.process_time()
        if self._pid is not None:
            other = _io(self._pid)
            io = (io[0] + other[0], io[1] + other[1])
            cpu += _cpu(self._pid)
        return time.perf_counter(), cpu, _queued(self._pid or os.getpid()), *io


def _io(pid: int) -> tuple[float, float]:
    fields = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
    return float(fields["rchar"]), float(fields["wchar"])


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * _TICK_S


def _queued(pid: int) -> float:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
