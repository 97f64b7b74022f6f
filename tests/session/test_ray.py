from __future__ import annotations

from pathlib import Path

import pytest
from workplace import Workplace

from assay.config.entry_config import RayConfig
from assay.errors import MissingExtra
from assay.record import Outcome
from assay.session import machine, ray_cluster
from assay.session.ray_cluster import RayCluster

SQUARES = """
import json, os, pathlib, sys, time
out = pathlib.Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
import ray
ray.init()
@ray.remote
def square(x): return x * x
@ray.remote
def where(): return os.getcwd()
total = sum(ray.get([square.remote(i) for i in range(20)]))
(out / "params.json").write_text("{}")
(out / "metrics.json").write_text(json.dumps({
    "total": total, "cpus": ray.cluster_resources()["CPU"], "same_folder": ray.get(where.remote()) == os.getcwd()}))
if sys.argv[1] == "hang": time.sleep(600)
"""
CONFIG = """
entries:
  - name: squares
    script: squares.py
    args: end
    ray: {num_cpus: 3, isolation: namespace, object_store_size: 100000000}
  - name: hangs
    script: squares.py
    args: hang
    timeout_s: 8
    grace_s: 0.5
    ray: {num_cpus: 1, isolation: namespace, object_store_size: 100000000, enable_object_spilling: false}
"""


@pytest.mark.slow
def test_an_entry_has_a_cluster_of_its_own_and_leaves_nothing_behind(workplace: Workplace) -> None:
    workplace.write("scripts/squares.py", SQUARES)
    workplace.write("session.yaml", CONFIG)
    answer = workplace.assay("run", "--config", "session.yaml")
    records = workplace.records()
    assert records["squares"].success, answer.out
    assert records["squares"].script_metrics == {"total": 2470, "cpus": 3.0, "same_folder": True}
    assert records["squares"].usage.peak_processes > 5
    assert records["hangs"].outcome is Outcome.TIMEOUT
    session = workplace.sessions()[-1].path
    for name in records:
        log = (session / name / "logs/ray_startup.log").read_text()
        temp = log.split("--temp-dir=")[1].split()[0]
        assert "Ray runtime started." in log
        assert not Path(temp).exists()
        assert not any(temp.encode() in words for words in _command_lines())


def _command_lines() -> list[bytes]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:
            continue
    return found


def test_the_command_that_starts_a_cluster(tmp_path: Path) -> None:
    config = RayConfig(num_cpus=4, num_gpus=1, object_store_size=10**8, object_spilling=False)
    cluster = RayCluster(config, tmp_path, None)
    command = cluster.command()
    cluster.close()
    assert "from ray.scripts.scripts import main" in command[2]
    assert [command[1], *command[3:6]] == ["-c", "start", "--head", "--block"]
    assert {"--num-cpus=4", "--num-gpus=1", "--object-store-memory=100000000"} <= set(command)
    assert '--system-config={"automatic_object_spilling_enabled": false}' in command
    ports = [word.rpartition("=")[2] for word in command if "port=" in word]
    assert len(ports) == len(set(ports)) == 8
    assert cluster.environment["RAY_ADDRESS"] == f"127.0.0.1:{ports[0]}"
    assert len(cluster.environment["RAY_AUTH_TOKEN"]) == 64


def test_without_the_extra_the_install_command_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster.importlib.util, "find_spec", lambda name: None)  # type: ignore[attr-defined]
    cluster = RayCluster(RayConfig(), tmp_path, None)
    with pytest.raises(MissingExtra, match=r"pip install 'assay-bench\[ray\]'"):
        cluster.command()
    cluster.close()


NO_RAY = """
import sys
print("Local node IP: 127.0.0.1")
print()
raise ValueError("the port 1 is taken\\nchoose another")
"""


def test_a_cluster_that_does_not_start_says_why_in_the_reason_and_in_the_logs(workplace: Workplace) -> None:
    """A stand-in for Ray's own start, which fails the same way and takes ten seconds for it."""
    workplace.write("stand_in/ray/__init__.py", "")
    workplace.write("stand_in/ray/scripts/__init__.py", "")
    workplace.write("stand_in/ray/scripts/scripts.py", NO_RAY)
    workplace.environment["PYTHONPATH"] += f":{workplace.folder}/stand_in"
    workplace.write("session.yaml", "entries: [{name: a, command: 'true', ray: {num_cpus: 1}}]")
    answer = workplace.assay("run", "--config", "session.yaml")
    assert answer.code == 1
    record = workplace.records()["a"]
    assert record.outcome is Outcome.NOT_STARTED
    assert record.reasons[0].startswith("the Ray cluster ended with 1 while starting; see ")
    said = ["ray_startup.log: ValueError: the port 1 is taken", "ray_startup.log: choose another"]
    assert list(record.reasons[1:]) == said
    assert all(line in answer.out for line in said)
    for words in (["logs", "a"], ["logs", "a", "--ray"]):
        shown = workplace.assay(*words)
        assert shown.code == 0
        assert "(attempt 3 of 3)" in shown.out
        assert shown.out.endswith("ValueError: the port 1 is taken\nchoose another\n")
    assert "'a' was not started" in workplace.assay("logs", "a").err


def test_an_object_store_of_a_fraction_is_told_to_ray_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "usable_memory_bytes", lambda: 4_000_000_000)
    monkeypatch.setattr(ray_cluster.importlib.util, "find_spec", lambda name: object())  # type: ignore[attr-defined]
    for size, words in ((0.25, ["--object-store-memory=1000000000"]), ("default", [])):
        cluster = RayCluster(RayConfig(object_store_size=size), tmp_path, None)
        assert [word for word in cluster.command() if word.startswith("--object-store-memory")] == words
        cluster.close()
