from __future__ import annotations

import os
from typing import Self

from assay.process.usage.one_process import status_bytes


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
