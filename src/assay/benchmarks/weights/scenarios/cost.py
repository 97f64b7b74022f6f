from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from assay.weights.store import WeightStore

T = TypeVar("T")


@dataclass(frozen=True)
class Cost:
    """Seconds that something took: by the clock, and of the processor with all threads."""

    wall_s: float = 0.0
    cpu_s: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.wall_s + other.wall_s, self.cpu_s + other.cpu_s)


def time_call(store: WeightStore, call: Callable[[], T]) -> tuple[T, Cost]:
    """The answer and its cost; a store that works in a process of its own says its CPU time itself."""
    clock: Callable[[], float] = getattr(store, "cpu_seconds", time.process_time)
    cpu, wall = clock(), time.perf_counter()
    answer = call()
    return answer, Cost(time.perf_counter() - wall, clock() - cpu)
