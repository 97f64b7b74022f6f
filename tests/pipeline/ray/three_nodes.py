"""A cluster of three nodes, one of which is killed while an executor is at work."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster
from tests.pipeline.ray.scenarios import RAY, parts

SPLITS = 24


def main(scratch: Path) -> None:
    # Ray takes a quarter of a minute to be sure that a node is gone; these tests do not have that long.
    os.environ |= {
        "RAY_health_check_initial_delay_ms": "1000",
        "RAY_health_check_period_ms": "250",
        "RAY_health_check_timeout_ms": "3000",
        "RAY_health_check_failure_threshold": "4",
    }
    answer: dict[str, Any] = {"local": parts("local", scratch / "local", SPLITS, workers=1)}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    nodes: list[Any] = []
    ray.init(address=cluster.address, logging_level=logging.ERROR, log_to_driver=False)
    for name in sys.argv[2:] or RAY:
        folder, began = scratch / name, time.monotonic()
        nodes += [cluster.add_node(num_cpus=2) for _ in range(2 - len(nodes))]
        victim = nodes.pop()
        killed: dict[str, int] = {}
        killer = threading.Thread(target=kill_in_mid_run, args=(cluster, victim, folder, killed), daemon=True)
        killer.start()
        before = len([node for node in ray.nodes() if node["Alive"]])
        # Three workers, so that some are on the node that goes.
        answer[name] = parts(name, folder, SPLITS, seconds=0.1, workers=1 if name == "xenna" else 3)
        killer.join(5)
        print(name, round(time.monotonic() - began, 1), "s", killed, flush=True)
        answer[name] |= {"nodes before": before, "parts when killed": killed.get("parts")}
    ray.shutdown()
    (scratch / "answer.json").write_text(json.dumps(answer))


def kill_in_mid_run(cluster: Cluster, node: Any, folder: Path, killed: dict[str, int]) -> None:
    while not folder.is_dir() or (done := len(list(folder.glob("part-*")))) < 4:
        time.sleep(0.02)
    cluster.remove_node(node, allow_graceful=False)
    killed["parts"] = done


if __name__ == "__main__":
    main(Path(sys.argv[1]))
