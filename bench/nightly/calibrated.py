"""CPU time that means the same on a busy machine and on an idle one.

Neighbours on a shared core slow all code down, by a tenth or by half, for seconds or minutes. A program of the
nightly session therefore runs a fixed loop between its measurements, and divides by what that loop took in the same
seconds. The least of several rounds counts: what else a machine does can only add.
"""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from assay.record.benchmark import Benchmark

REFERENCE_S = 0.0035
"""CPU seconds of the loop on the machine that all figures are converted to."""
MARGIN = 0.25
"""Share below which a change of calibrated CPU time counts as none: what is left of a busy machine's noise."""
SLOWED = "BENCH_SLOWED"
"""`part:1.5` in this variable makes that part take half as much CPU again, to see whether the gate notices."""

_SORTED = np.random.default_rng(1).integers(0, 1 << 30, 60_000, dtype=np.int32)


def loop() -> None:
    """Arithmetic, small objects and a pass over memory: neighbours slow each of them down differently."""
    total = 0
    for number in range(30_000):
        total += number * number % 7
    for number in range(250):
        json.loads(json.dumps({"name": f"entry-{number}", "values": [number, number + 0.5]}))
    np.sort(_SORTED)


def cpu_s(work: Callable[[], object]) -> float:
    """CPU seconds of `work`, in this process and in those that it started and waited for."""
    before = _used()
    work()
    return _used() - before


def _used() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + spent.ru_utime + spent.ru_stime


@dataclass
class Calibrated:
    """One program's measurements: `measure` a piece of work, and its metric is reported with unit and direction."""

    benchmark: Benchmark
    part: str
    rounds: int

    def __post_init__(self) -> None:
        name, _, times = os.environ.get(SLOWED, "").partition(":")
        self._times = float(times) if name == self.part else 1.0
        loop()

    def measure(self, metric: str, work: Callable[[], object], items: int, unit: str = "µs") -> None:
        """CPU of `work` for each of its items, the least of the rounds, over the loop's least between them.

        There should be so many items that they are most of the work: what is constant hides what changes.
        """
        works, loops = [], [cpu_s(loop)]
        for _ in range(self.rounds):
            works.append(cpu_s(lambda: self._slowed(work)) / items)
            loops += [cpu_s(loop), cpu_s(loop)]
        scale = {"µs": 1e6, "ms": 1e3}[unit]
        value = scale * min(works) * REFERENCE_S / min(loops)
        self.benchmark.metric(metric, value, unit=unit, better="lower", margin=MARGIN)

    def _slowed(self, work: Callable[[], object]) -> None:
        began = _used()
        work()
        until = began + self._times * (_used() - began)
        while self._times > 1 and _used() < until:
            sum(range(10_000))
