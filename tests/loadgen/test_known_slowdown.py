"""A victim beside a burst on one core, for part of its run: its slowdown there is known.

Both are in the kernel's real-time class where that is permitted and give way after each call: then they take turns on
the core, whatever else runs on the machine, and the slowdown is 2. Both keep an account of their own, by which it is
known in any case.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from assay.loadgen.colocation.colocation import Colocation
from assay.loadgen.colocation.read import read_config
from assay.loadgen.colocation.slowdown.contrast import Contrast

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
        self.ends.append(time.monotonic_ns())

    def teardown(self):
        fair = os.sched_getscheduler(0) == os.SCHED_FIFO
        Path(f"{self.account}-{self.ends[0]}.json").write_text(json.dumps({"ends": self.ends, "fair": fair}))
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


def accounts(folder: Path, name: str) -> list[dict[str, Any]]:
    """A run each, in their order."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob(f"{name}-*.json"))]


@pytest.mark.slow
@pytest.mark.serial
def test_the_slowdown_inside_the_overlap_is_found_within_a_tenth(tmp_path: Path) -> None:
    contrast = run(tmp_path)
    alone, beside = accounts(tmp_path, "victim")
    [burst] = accounts(tmp_path, "burst")
    together = [end for end in beside["ends"] if end < burst["ends"][-1]]
    same = alone["ends"][: len(together)]
    known = (together[-1] - together[0]) / (same[-1] - same[0])
    assert len(together) < 0.9 * len(beside["ends"]), "the burst ended first"
    for slowdown in (contrast.slowdown("throughput"), contrast.slowdown("mean", 0)):
        found = slowdown.interval
        assert found is not None
        print(f"{slowdown.what}: {found.estimate:.3f} [{found.low:.3f}, {found.high:.3f}], known {known:.3f}")
        assert found.estimate == pytest.approx(known, rel=0.1)
    if alone["fair"] and beside["fair"] and burst["fair"]:
        assert contrast.slowdown("throughput").interval.estimate == pytest.approx(2.0, rel=0.1)  # type: ignore[union-attr]
