"""Assay killed, interrupted, or out of disk: nothing that finished is lost or done twice, nothing is left running."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from workplace import Workplace

from assay.record import Outcome, SessionFolder
from assay.record.results_file import read_records

STEP = """
import json, os, pathlib, sys, time
out = pathlib.Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
name, seconds = sys.argv[1], float(sys.argv[2])
with open("started.log", "a") as log: log.write(f"{name} {os.getpid()}\\n")
time.sleep(seconds)
(out / "params.json").write_text("{}")
(out / "metrics.json").write_text(json.dumps({"is_success": True}))
with open("done.log", "a") as log: log.write(f"{name}\\n")
"""
ENTRIES = "abcde"


def five(place: Workplace, seconds: float) -> None:
    place.write("scripts/step.py", STEP)
    entries = "".join(
        f"  - {{name: {name}, script: step.py, args: {name} {seconds}, grace_s: 0.5}}\n" for name in ENTRIES
    )
    place.write("session.yaml", f"results_dir: results\nentries:\n{entries}")


def wait_for(path: Path, text: str) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if path.exists() and text in path.read_text():
            return
        time.sleep(0.01)
    raise AssertionError(f"{text!r} did not appear in {path}")


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def all_end(pids: list[int]) -> bool:
    deadline = time.monotonic() + 10
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(map(is_running, pids))


@pytest.mark.slow
@pytest.mark.parametrize("moment", range(20))
def test_killed_in_the_third_of_five_and_resumed(workplace: Workplace, moment: int) -> None:
    five(workplace, seconds=0.15)
    assay = workplace.start("run", "--config", "session.yaml")
    wait_for(workplace.folder / "started.log", "c ")
    time.sleep(random.Random(moment).uniform(0, 0.2))
    assay.kill()
    assay.wait()
    started = [line.split() for line in (workplace.folder / "started.log").read_text().splitlines()]
    assert all_end([int(pid) for _, pid in started])
    finished = {record.name for record in workplace.sessions()[-1].records()}

    answer = workplace.assay("run", "--resume", "latest")

    assert answer.code == 0, answer.out + answer.err
    session = workplace.sessions()[-1]
    assert Counter(record.name for record in read_records(session.results)) == Counter(ENTRIES)
    assert session.info().status == "finished"
    runs = Counter(line.split()[0] for line in (workplace.folder / "started.log").read_text().splitlines())
    assert all(runs[name] == 1 for name in finished)
    interrupted = [name for name in ENTRIES if name not in finished and runs[name] == 2]
    for name in interrupted:
        outcomes = [record.outcome for record in read_records(session.path / name / "results.jsonl")]
        assert outcomes == [Outcome.INTERRUPTED, Outcome.PASSED]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_by_the_user(workplace: Workplace, number: signal.Signals) -> None:
    five(workplace, seconds=30)
    assay = workplace.start("run", "--config", "session.yaml")
    wait_for(workplace.folder / "started.log", "a ")
    assay.send_signal(number)
    assert assay.wait(timeout=30) == 130
    session = workplace.sessions()[-1]
    assert [(record.name, record.outcome) for record in session.records()] == [("a", Outcome.INTERRUPTED)]
    assert session.info().status == "interrupted"
    assert all_end([int((workplace.folder / "started.log").read_text().split()[1])])


def test_one_session_is_run_by_one_process(workplace: Workplace) -> None:
    five(workplace, seconds=1)
    assay = workplace.start("run", "--config", "session.yaml")
    wait_for(workplace.folder / "started.log", "a ")
    answer = workplace.assay("run", "--resume", "latest")
    assay.kill()
    assay.wait()
    assert answer.code == 2
    assert "is running in another process" in answer.err


def test_another_session_on_this_machine_is_said(workplace: Workplace) -> None:
    five(workplace, seconds=2)
    assay = workplace.start("run", "--config", "session.yaml")
    wait_for(workplace.folder / "started.log", "a ")
    answer = workplace.assay("run", "--runs", "1", "--", "true")
    assay.kill()
    assay.wait()
    assert "another session is running on this machine: nightly-run__" in answer.err


FILL = """
import json, pathlib, sys
out = pathlib.Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
if sys.argv[1] == "fill":
    with open(out / "big", "wb") as big:
        while True: big.write(b"x" * 65536); big.flush()
(out / "params.json").write_text("{}")
(out / "metrics.json").write_text(json.dumps({"is_success": True}))
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Path:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(disk)], check=True)
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.mark.parametrize("kind", ["file", "output"])
def test_a_disk_that_fills_up(workplace: Workplace, small_disk: Path, kind: str) -> None:
    workplace.write("scripts/fill.py", FILL)
    shout = "import sys\nwhile True: sys.stdout.write('x' * 65536)\n"
    workplace.write("scripts/shout.py", shout)
    filler = "{name: filler, script: fill.py, args: fill}"
    if kind == "output":
        filler = "{name: filler, script: shout.py, timeout_s: 3, grace_s: 0.2}"
    config = (
        f"results_dir: {small_disk}/results\nentries:\n  - {{name: before, script: fill.py, args: ok}}\n  - {filler}\n"
    )
    workplace.write("session.yaml", config)
    answer = workplace.assay("run", "--config", "session.yaml")
    assert answer.code == 1, answer.err
    folder = SessionFolder(next((small_disk / "results").glob("nightly-run*")))
    records = {record.name: record for record in folder.records()}
    assert records["before"].success
    assert records["filler"].outcome in (Outcome.FAILED, Outcome.TIMEOUT)
    said = " ".join(records["filler"].reasons)
    assert (
        "No space left on device" in said
        or "no space left on the disk" in said
        or "disk with the results is full" in said
    )


def test_live_output_can_be_followed_while_it_runs(workplace: Workplace) -> None:
    workplace.write("scripts/talk.py", "import time\nprint('hello', flush=True)\ntime.sleep(20)\n")
    workplace.write("session.yaml", "entries:\n  - {name: talk, script: talk.py, grace_s: 0.2}\n")
    assay = workplace.start("run", "--config", "session.yaml")
    try:
        deadline = time.monotonic() + 20
        while not list(workplace.folder.glob("results/*/talk/stdouterr.log")) and time.monotonic() < deadline:
            time.sleep(0.02)
        wait_for(next(workplace.folder.glob("results/*/talk/stdouterr.log")), "hello")
        answer = workplace.assay("logs", "talk")
        assert "hello" in answer.out
    finally:
        assay.send_signal(signal.SIGINT)
        assay.wait()


def test_the_interpreter_of_these_tests_is_the_one_that_runs(workplace: Workplace) -> None:
    workplace.write("scripts/who.py", "import sys; print(sys.executable)")
    workplace.write("session.yaml", "entries:\n  - {name: who, script: who.py}\n")
    workplace.assay("run", "--config", "session.yaml")
    log = workplace.sessions()[-1].path / "who/logs/stdout.log"
    assert os.path.samefile(log.read_text().strip(), sys.executable)
