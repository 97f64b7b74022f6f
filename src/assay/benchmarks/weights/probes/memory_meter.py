from __future__ import annotations

import ctypes
import gc
import mmap
import os
from pathlib import Path
from typing import Self

import numpy as np

_MOST_TOUCHED = 1 << 30


class MemoryMeter:
    """The most memory a process holds during a block, above what it held at its start.

    Linux keeps the peak of resident memory and forgets it when 5 is written to clear_refs (proc(5)). Pages that an
    allocator keeps from earlier work are not counted again, so only a fresh process tells the whole of it.
    """

    def __init__(self, pid: int | None = None) -> None:
        self._folder = Path("/proc") / str(pid or os.getpid())
        self.before = self.peak = self.after = 0

    def __enter__(self) -> Self:
        self.before = self.resident()
        (self._folder / "clear_refs").write_text("5")
        return self

    def __exit__(self, *_: object) -> None:
        self.peak = max(self._status("VmHWM"), self.before)
        self.after = self.resident()

    @property
    def extra(self) -> int:
        return self.peak - self.before

    def resident(self) -> int:
        return self._status("VmRSS")

    def _status(self, field: str) -> int:
        for line in (self._folder / "status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
        raise OSError(f"{self._folder}/status has no {field}")


def settle() -> int:
    """Garbage collected and free pages given back: what is left is what something still refers to.

    Says how many objects were unreachable. An operation timed after it pays for the memory it takes, as it would in a
    process that has just started.
    """
    unreachable = gc.collect()
    _give_back()
    return unreachable


def _give_back() -> None:
    ctypes.CDLL(None).malloc_trim(0)


def settle_machine(nbytes: int) -> None:
    """As `settle`, and that much memory (at most 1 GB) touched and given back, before an operation that is to be timed.

    A virtual machine returns memory that has been free for seconds to its host, and getting it back takes many times
    as long as clearing it does. Whether an operation meets such memory is chance, and no property of a store.
    """
    settle()
    room = np.empty(min(nbytes, _MOST_TOUCHED), np.uint8)
    room[:: mmap.PAGESIZE] = 1
    del room
    _give_back()
