"""Two CPU-bound pipelines on one core and on two, and two bare processes that spin, pinned alike."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from math import nan
from pathlib import Path
from statistics import median
from typing import Any

from bench.figures import Figures

from assay.loadgen.colocation.colocation import Colocation, pairs, run_matrix
from assay.loadgen.colocation.colocation_config import ColocationConfig

SECONDS = 2.0
ITERATIONS = 20_000
ROUNDS = 4

# The same arithmetic as the stage, with nothing around it: rounds done from one instant to another.
SPINNER = """
import os, sys, time
core, begin, end, iterations = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
os.sched_setaffinity(0, {core})
def spin(iterations):
    value = 1
    for _ in range(iterations):
        value = (value * 1103515245 + 12345) & 0x7FFFFFFF
while time.monotonic() < begin: time.sleep(0.001)
done = 0
while time.monotonic() < end:
    spin(iterations)
    done += 1
print(done)
"""


def slowdown_figures(figures: Figures, realtime: bool = False) -> None:
    if realtime:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    cores = sorted(os.sched_getaffinity(0))[:2]
    for title, first, second in (("one core", cores[0], cores[0]), ("two cores", cores[0], cores[-1])):
        config = ColocationConfig.model_validate({"pipelines": [_pipeline("a", first), _pipeline("b", second)]})
        pipeline, spinning = [], []
        with tempfile.TemporaryDirectory() as folder:
            for n in range(ROUNDS):
                groups = pairs(config, diagonal=False)
                matrix = run_matrix(Colocation(config, Path(folder) / str(n)), config, groups)
                found = [contrast.slowdown("throughput").interval for contrast in matrix.contrasts]
                pipeline.append([nan if interval is None else interval.estimate for interval in found])
                spinning.append(_bare(first, second))
        print(f"  {title}: pipelines {_shown(pipeline)}, bare {_shown(spinning)}", flush=True)
        for which, name in enumerate("ab"):
            ours, theirs = (median(row[which] for row in rows) for rows in (pipeline, spinning))
            words = f"{ours:.2f} against {theirs:.2f} bare"
            figures.add(f"slowdown of {name}, {title}", words, "within 0.15", abs(ours - theirs) <= 0.15)


def _shown(rounds: list[list[float]]) -> str:
    return " ".join("/".join(f"{value:.2f}" for value in row) for row in rounds)


def _pipeline(name: str, core: int) -> dict[str, Any]:
    return {
        "name": name,
        "cpus": [core],
        "loadgen": {"component": "single_stream", "duration": SECONDS},
        "stages": [{"id": 0, "component": "busy_cpu", "config": {"iterations": ITERATIONS}}],
    }


def _bare(first: int, second: int) -> list[float]:
    alone = [_spin([first])[0], _spin([second])[0]]
    together = _spin([first, second])
    return [a / t for a, t in zip(alone, together, strict=True)]


def _spin(cores: list[int]) -> list[int]:
    from time import monotonic

    begin = monotonic() + 0.5
    words = [str(begin), str(begin + SECONDS), str(ITERATIONS)]
    # A session each, as pipelines have: a busy kernel shares processors by session (autogroups, sched(7)).
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SPINNER, str(core), *words], stdout=subprocess.PIPE, start_new_session=True
        )
        for core in cores
    ]
    return [int(process.communicate()[0]) for process in processes]
