from __future__ import annotations

import tracemalloc
from typing import Self


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
