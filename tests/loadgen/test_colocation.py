"""Pipelines in processes of their own: what happens to them, and to their neighbours."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from assay.loadgen.colocation.colocation import Colocation, GroupOutcome
from assay.loadgen.colocation.colocation_config import ColocationConfig
from assay.loadgen.colocation.pipeline_limits import limits_problem
from assay.loadgen.colocation.pipeline_worker import PipelineProgress
from assay.loadgen.colocation.result_files import save_group
from assay.loadgen.driver.ending import How

SYNTHETIC = "stages.synthetic."


def pipeline(name: str, *stages: tuple[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    loadgen = {"component": "constant", "config": {"rate": 200}, "max_queries": 100, **more.pop("loadgen", {})}
    last = len(stages) - 1
    return {
        "name": name,
        "loadgen": loadgen,
        "stages": [
            {"id": n, "component": SYNTHETIC + c, "config": config, "outputs": [] if n == last else [n + 1]}
            for n, (c, config) in enumerate(stages)
        ],
        **more,
    }


def run(tmp_path: Path, *pipelines: dict[str, Any], **more: Any) -> GroupOutcome:
    listener = more.pop("listener", None)
    config = ColocationConfig.model_validate({"pipelines": pipelines, **more})
    return Colocation(config, tmp_path, listener).run(config.pipelines, "together")


def workers() -> list[str]:
    """Command lines of pipeline processes that are there now and were started by this test's process."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            if b"assay.loadgen" in command and f"ASSAY_TEST_RUN={os.getpid()}".encode() in environment:
                found.append(command.decode())
    return found


@pytest.fixture(autouse=True)
def _nothing_left(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("ASSAY_TEST_RUN", str(os.getpid()))
    yield
    assert workers() == []


def test_pipelines_start_at_one_instant_and_are_measured_apart(tmp_path: Path) -> None:
    seen: list[PipelineProgress] = []
    outcome = run(
        tmp_path, pipeline("a", ("NoOp", {})), pipeline("b", ("Sleep", {"seconds": 0.002})), listener=seen.extend
    )
    assert outcome.success
    a, b = (outcome[name].result for name in "ab")
    assert a.started_at == b.started_at
    assert (a.completed, b.completed) == (100, 100)
    assert a.latency["p50"] < b.latency["p50"]
    assert outcome.window[1] - outcome.window[0] > 0.4e9
    assert outcome["a"].peak_rss_mb > 5
    assert {progress.pipeline for progress in seen} == {"a", "b"}
    assert "asked 200/s" in str(seen[-1])


@pytest.mark.parametrize(
    ("component", "how", "words"),
    [
        ("Raise", How.FAILED, "query 20, stage 1 (Raise): RuntimeError: asked to raise at call 20"),
        ("Crash", How.KILLED, "its process was killed by signal 9 in query 20, stage 1 (Crash)"),
    ],
)
def test_one_that_dies_ends_the_run_and_its_neighbours_results_are_kept(
    tmp_path: Path, component: str, how: How, words: str
) -> None:
    begin = time.monotonic()
    long = {"max_queries": 100_000}
    bad = pipeline("bad", ("NoOp", {}), (component, {"at": 20}), loadgen=long)
    outcome = run(tmp_path, bad, pipeline("good", ("NoOp", {}), loadgen=long))
    assert time.monotonic() - begin < 60
    ended = outcome["bad"].result
    assert (ended.ending.how, ended.ending.query, ended.ending.stage) == (how, 20, 1)
    assert ended.ending.reason == words
    assert ended.completed == 20
    neighbour = outcome["good"].result
    assert neighbour.ending.success
    assert neighbour.completed > 0
    save_group(outcome)
    written = json.loads((tmp_path / "together" / "good" / "result.json").read_text())
    assert written["completed"] == neighbour.completed


@pytest.mark.slow
@pytest.mark.parametrize(("limits", "words"), [({"timeout": 1.0}, "the time limit of 1 s"), ({}, "stall_timeout")])
def test_one_that_hangs_beyond_signals_is_ended(tmp_path: Path, limits: dict[str, float], words: str) -> None:
    begin = time.monotonic()
    hanging = pipeline("hanging", ("Hang", {"at": 5}), loadgen={"max_queries": 100_000, **limits})
    outcome = run(tmp_path, hanging, pipeline("good", ("NoOp", {}), loadgen={"max_queries": 50}), stall_timeout=2.0)
    assert time.monotonic() - begin < 60
    ended = outcome["hanging"].result
    assert ended.ending.how is How.TIMED_OUT
    assert words in ended.ending.reason
    assert "query 5, stage 0 (Hang)" in ended.ending.reason
    assert ended.completed == 5
    assert outcome["good"].result.completed == 50


def test_an_empty_data_set_ends_at_once(tmp_path: Path) -> None:
    empty = pipeline("empty", ("Samples", {"count": 0}), dataset_stage_id=0, loadgen={"max_queries": 100_000})
    outcome = run(tmp_path, empty, pipeline("good", ("NoOp", {}), loadgen={"max_queries": 100_000}))
    assert outcome["empty"].result.ending.reason.startswith("the data set of stage 0 (Samples) is empty")
    assert outcome["good"].result.ending.reason == "stopped before the start"


def test_a_stage_that_cannot_be_set_up_says_why(tmp_path: Path) -> None:
    outcome = run(tmp_path, pipeline("bad", ("Disk", {"folder": "/nowhere/at/all"})))
    assert outcome["bad"].result.ending.how is How.FAILED
    assert "while setting up: FileNotFoundError" in outcome["bad"].result.ending.reason


def test_affinity_and_niceness_reach_the_pipeline(tmp_path: Path) -> None:
    (tmp_path / "seen_by_stage.py").write_text(
        "import json, os\nfrom pathlib import Path\nfrom assay.pipeline.stage import Stage\n"
        "class See(Stage):\n"
        "    def __init__(self, path): self.path = path\n"
        "    def process(self, data):\n"
        "        seen = {'cpus': sorted(os.sched_getaffinity(0)), 'nice': os.nice(0)}\n"
        "        Path(self.path).write_text(json.dumps(seen))\n"
    )
    core = min(os.sched_getaffinity(0))
    config = pipeline("a", cpus=[core], nice=7, loadgen={"max_queries": 1})
    config["stages"] = [{"id": 0, "component": "seen_by_stage.See", "config": {"path": str(tmp_path / "seen.json")}}]
    path = tmp_path / "config.yml"
    path.write_text(json.dumps({"pipelines": [config]}))
    from assay.loadgen.colocation.read_config import read_config

    read = read_config(path)
    outcome = Colocation(read, tmp_path / "out").run(read.pipelines, "together")
    assert outcome.success, outcome["a"].result.ending
    assert json.loads((tmp_path / "seen.json").read_text()) == {"cpus": [core], "nice": os.nice(0) + 7}


@pytest.mark.slow
def test_a_cpu_limit_holds(tmp_path: Path) -> None:
    assert not limits_problem()
    closed = {"component": "single_stream", "config": {}, "max_queries": None, "duration": 2.0}
    busy = ("BusyCpu", {"iterations": 2000})
    outcome = run(tmp_path, pipeline("a", busy, loadgen=closed, limits={"cpus": 0.2, "memory_mb": 1000}))
    result = outcome["a"].result
    assert result.ending.success
    # Of two seconds, a fifth; the kernel grants slices of 100 ms.
    assert result.cpu_s < 0.2 * 2 * 1.6
    assert not list(Path("/sys/fs/cgroup").glob(f"*/assay-{os.getpid()}-*"))


def _without_owner(folder: Path) -> bool:
    """Nobody holds its lock: whoever made it is gone. Runs beside this one have folders of their own."""
    import fcntl

    try:
        with (folder / "lock").open("r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (FileNotFoundError, BlockingIOError):
        return False
    return True


@pytest.mark.slow
def test_a_terminated_run_leaves_nothing(tmp_path: Path) -> None:
    import signal
    import subprocess
    import sys

    path = tmp_path / "config.yml"
    path.write_text(json.dumps({"pipelines": [pipeline("a", ("NoOp", {}), loadgen={"max_queries": 1_000_000})]}))
    folders = set(Path("/dev/shm").glob("assay-load-*"))
    running = subprocess.Popen(
        [sys.executable, "-m", "assay", "colocate", str(path), "--results", str(tmp_path / "out")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stderr is not None
    # The first word of progress: it is under way.
    assert "asked 200/s" in running.stderr.readline()
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=60)
    assert running.returncode == 128 + signal.SIGTERM
    assert [folder for folder in set(Path("/dev/shm").glob("assay-load-*")) - folders if _without_owner(folder)] == []
    assert (tmp_path / "out" / "together" / "a" / "events.rows").stat().st_size > 0
