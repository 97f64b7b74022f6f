"""Every executor on one node, against `local`."""

from __future__ import annotations

import json
import logging
import multiprocessing
import resource
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tests.pipeline.ray.alm_odd import alm
from tests.pipeline.ray.scenarios import RAY, DieOnce, Rebatch, Running, outcome, parts
from tests.pipeline.toy_stages import Even, FailOn, Numbers, Sum, Twice

LITTLE = 1_010
"""Rows a split: its last batch is a short one."""


def main(scratch: Path) -> None:
    answer: dict[str, object] = {}
    # In a process of its own: what it takes must not hide what this one's peak grows by.
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as beside:
        alm_local = beside.submit(alm, scratch, ["local"]).result()
    for name in ("local", *RAY):
        if name == RAY[0]:
            import ray

            # The first executor starts a cluster itself and must leave none behind.
            answer["own cluster"] = outcome(name, Numbers(splits=3), [Sum()])
            answer["left behind"] = ray.is_initialized()
            ray.init(
                address="local", num_cpus=8, include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False
            )
        little = parts(name, scratch / name, 6, rows=LITTLE)
        answer[name] = {
            "batches": outcome(name, Numbers(splits=9), [Rebatch(), Even(), Twice()]),
            "parts": little,
            "bad data": outcome(name, Numbers(splits=4), [FailOn(25, "data"), Sum()], workers=1),
            "no splits": outcome(name, Numbers(splits=0), [Sum()]),
            "stateful": outcome(name, Numbers(splits=12), [Running()]),
        }
        if name in ("ray_actors", "ray_data"):
            answer[f"{name} driver"] = driver_growth(name, scratch / f"{name}-growth", little)
        # cosmos-xenna takes five seconds a run; what a bug looks like does not depend on it.
        if name != "xenna":
            answer[f"{name} bug"] = outcome(name, Numbers(splits=4), [FailOn(25, "bug"), Sum()], workers=1)
        if name != "local":
            answer[f"{name} death"] = outcome(name, Numbers(splits=6), [DieOnce(33, scratch / f"{name}.died"), Sum()])
        if name in ("ray_actors", "ray_data"):
            dies = DieOnce(33, scratch / f"{name}.died with state")
            answer[f"{name} state lost"] = outcome(name, Numbers(splits=6), [Running(), dies])
    answer["poison"] = outcome("ray_actors", Numbers(splits=4), [FailOn(25, "die"), Sum()])
    answer["alm"] = alm_local | alm(scratch, RAY)
    (scratch / "answer.json").write_text(json.dumps(answer))


def driver_growth(executor: str, folder: Path, little: dict[str, Any]) -> dict[str, int]:
    """How many kilobytes more this process needs at its peak for over 200 times the data; and how much that was."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    much = parts(executor, folder, 8, rows=200 * LITTLE)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    written = {size: sum(told[2] for told in run["told"]) for size, run in (("little", little), ("much", much))}
    return {"grown": after - before, **written}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
