from __future__ import annotations

import os
import tempfile
from time import perf_counter, thread_time
from typing import Any

import numpy as np

from assay.pipeline.stage import Stage, Worker


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


class CacheThrash(Stage[Any, Any]):
    """Touches `touches` cache lines a call, in random order, of a working set meant to fill the shared cache."""

    name = "cache thrash"

    def __init__(self, working_set_mb: int = 32, touches: int = 100_000, seed: int = 0) -> None:
        if working_set_mb < 1 or touches < 1:
            raise ValueError("working_set_mb and touches must be at least 1")
        self.working_set_mb = working_set_mb
        self.touches = touches
        self.seed = seed
        self._at = 0

    def setup(self, worker: Worker) -> None:
        lines = self.working_set_mb * 1_000_000 // 64
        self._lines = np.ones((lines, 8), np.int64)
        self._order = np.random.default_rng(self.seed).integers(0, lines, max(self.touches * 4, lines))

    def process(self, data: Any) -> Any:
        touched = self._order[self._at : self._at + self.touches]
        self._lines[touched, 0] += 1
        self._at += self.touches
        if self._at + self.touches > len(self._order):
            self._at = 0
        return data

    def teardown(self) -> None:
        del self._lines, self._order


class Disk(Stage[Any, Any]):
    """Writes `kilobytes` to a file of its own a call, syncs them to the device if asked, and reads them back."""

    name = "disk"

    def __init__(self, kilobytes: int = 256, folder: str | None = None, sync: bool = True, file_mb: int = 64) -> None:
        if kilobytes < 1 or file_mb * 1000 < kilobytes:
            raise ValueError("kilobytes must be at least 1 and fit into file_mb")
        self.kilobytes = kilobytes
        self.folder = folder
        self.sync = sync
        self.file_mb = file_mb
        self._at = 0

    def setup(self, worker: Worker) -> None:
        self._block = os.urandom(self.kilobytes * 1000)
        # Without a name: nothing is left behind, however the process ends.
        self._file = tempfile.TemporaryFile(dir=self.folder, buffering=0)  # noqa: SIM115  (closed at tear-down)

    def process(self, data: Any) -> Any:
        descriptor = self._file.fileno()
        os.pwrite(descriptor, self._block, self._at)
        if self.sync:
            os.fdatasync(descriptor)
        os.pread(descriptor, len(self._block), self._at)
        self._at += len(self._block)
        if self._at + len(self._block) > self.file_mb * 1_000_000:
            self._at = 0
        return data

    def teardown(self) -> None:
        self._file.close()


class MemoryBandwidth(Stage[Any, Any]):
    """Streams `megabytes` through memory a call, reading one array and writing another too big for any cache."""

    name = "memory bandwidth"

    def __init__(self, megabytes: int = 64, working_set_mb: int = 256) -> None:
        if megabytes < 1 or working_set_mb < 2:
            raise ValueError("megabytes must be at least 1 and working_set_mb at least 2")
        self.megabytes = megabytes
        self.working_set_mb = working_set_mb
        self._at = 0

    def setup(self, worker: Worker) -> None:
        half = self.working_set_mb * 1_000_000 // 16
        # Written to, so that the pages are real and not one page of zeros.
        self._source = np.ones(half, np.int64)
        self._target = np.ones(half, np.int64)

    def process(self, data: Any) -> Any:
        # A copy of n bytes reads n and writes n.
        left = self.megabytes * 1_000_000 // 16
        while left:
            run = min(left, len(self._source) - self._at)
            self._target[self._at : self._at + run] = self._source[self._at : self._at + run]
            self._at = (self._at + run) % len(self._source)
            left -= run
        return data

    def teardown(self) -> None:
        del self._source, self._target
