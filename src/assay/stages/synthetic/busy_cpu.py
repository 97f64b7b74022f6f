from __future__ import annotations

from time import perf_counter, thread_time
from typing import Any

from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage


class BusyCpu(Stage[Any, Any]):
    """A fixed amount of arithmetic in the interpreter, holding the GIL: `iterations` of about 50 ns.

    With `seconds` instead, the amount is found at set-up. Convenient, but a neighbour that slows the processor then
    also makes the work smaller: to compare runs, give iterations.
    """

    name = "busy cpu"

    def __init__(self, iterations: int = 20_000, seconds: float | None = None) -> None:
        if iterations < 1:
            raise ValueError(f"iterations must be at least 1, not {iterations}")
        if seconds is not None and not seconds > 0:
            raise ValueError(f"seconds must be greater than 0, not {seconds}")
        self.iterations = iterations
        self.seconds = seconds

    def setup(self, worker: Worker) -> None:
        if self.seconds is not None:
            self.iterations = max(int(self.seconds / _seconds_an_iteration()), 1)

    def process(self, data: Any) -> Any:
        spin(self.iterations)
        return data


def spin(iterations: int) -> int:
    value = 1
    for _ in range(iterations):
        value = (value * 1103515245 + 12345) & 0x7FFFFFFF
    return value


def _seconds_an_iteration() -> float:
    """The fastest of several short tries, by CPU time, so that a busy machine does not make the work smaller."""
    spin(10_000)
    best = float("inf")
    end = perf_counter() + 0.2
    while perf_counter() < end:
        start = thread_time()
        spin(20_000)
        best = min(best, (thread_time() - start) / 20_000)
    return best
