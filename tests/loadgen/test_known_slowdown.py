"""A victim beside a burst on one core, for part of its run: its slowdown there is known.

Both are in the kernel's real-time class where that is permitted and give way after each call: then they take turns on
the core, whatever else runs on the machine, and a turn costs the processor time of a call of each, which the kernel
counts: twice as much, but for what caches and clock rates do. Both also keep an account of their own by the clock, by
which the slowdown is known in any case.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.loadgen.colocation.colocation import Colocation
from assay.loadgen.colocation.read_config import read_config
from assay.loadgen.colocation.slowdown import Contrast

STAGE = """\
import json, os, time
from contextlib import suppress
from pathlib import Path
from assay.pipeline.stage import Stage


class Accounted(Stage):
    def __init__(self, account, iterations):
        self.account, self.iterations, self.ends = account, iterations, []

    def setup(self, worker):
        with suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))

    def process(self, data):
        value = 1
        for _ in range(self.iterations):
            value = (value * 1103515245 + 12345) & 0x7FFFFFFF
        os.sched_yield()
        self.ends.append((time.monotonic_ns(), time.process_time_ns()))

    def teardown(self):
        fair = os.sched_getscheduler(0) == os.SCHED_FIFO
        # The other must not wait for this one to write and to leave.
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        Path(f"{self.account}-{self.ends[0][0]}.json").write_text(json.dumps({"ends": self.ends, "fair": fair}))
"""


def run(folder: Path) -> Contrast:
    (folder / "accounted_stage.py").write_text(STAGE)
    core = min(os.sched_getaffinity(0))

    def spinning(name: str, **until: float) -> dict[str, object]:
        config = {"account": str(folder / name), "iterations": 15_000}
        stage = {"id": 0, "name": "work", "component": "accounted_stage.Accounted", "config": config}
        return {"name": name, "cpus": [core], "loadgen": {"component": "single_stream", **until}, "stages": [stage]}

    path = folder / "config.yml"
    path.write_text(json.dumps({"pipelines": [spinning("victim", max_queries=1200), spinning("burst", duration=1.2)]}))
    config = read_config(path)
    colocation = Colocation(config, folder / "out")
    alone, together = colocation.run(config.pipelines[:1], "alone"), colocation.run(config.pipelines, "together")
    return Contrast.of("victim", ["burst"], [alone], [together])


@dataclass(frozen=True)
class Account:
    """Ends of calls: on the clock, and in processor time of the process."""

    clock: list[int]
    processor: list[int]
    fair: bool

    @classmethod
    def read(cls, path: Path) -> Account:
        written = json.loads(path.read_text())
        clock, processor = zip(*written["ends"], strict=True)
        return cls(list(clock), list(processor), written["fair"])

    def first(self, calls: int) -> Account:
        return Account(self.clock[:calls], self.processor[:calls], self.fair)

    @property
    def seconds(self) -> float:
        """A call, by the clock."""
        return (self.clock[-1] - self.clock[0]) / (len(self.clock) - 1) / 1e9

    @property
    def processor_s(self) -> float:
        return (self.processor[-1] - self.processor[0]) / (len(self.processor) - 1) / 1e9


@pytest.mark.slow
@pytest.mark.serial
def test_the_slowdown_inside_the_overlap_is_found_within_a_tenth(tmp_path: Path) -> None:
    contrast = run(tmp_path)
    alone, beside = map(Account.read, sorted(tmp_path.glob("victim-*.json")))
    [burst] = map(Account.read, tmp_path.glob("burst-*.json"))
    together = sum(end < burst.clock[-1] for end in beside.clock)
    assert together < 0.9 * len(beside.clock), "the burst ended first"
    alone, beside = alone.first(together), beside.first(together)
    by_clock = beside.seconds / alone.seconds
    by_turns = (beside.processor_s + burst.processor_s) / alone.processor_s
    for slowdown in (contrast.slowdown("throughput"), contrast.slowdown("mean", 0)):
        found = slowdown.interval
        assert found is not None
        told = f"{slowdown.what}: {found.estimate:.3f} [{found.low:.3f}, {found.high:.3f}]"
        print(f"{told}; known by the clock {by_clock:.3f}, by turns {by_turns:.3f} (fair: {alone.fair})")
        assert found.estimate == pytest.approx(by_clock, rel=0.1)
        if alone.fair and beside.fair and burst.fair:
            assert found.estimate == pytest.approx(by_turns, rel=0.1)
