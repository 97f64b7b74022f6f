"""Sessions whose programs, terminal, disk or folder turn against them: every run has a record, nothing is left."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_interruption import ENTRIES, all_end, five, is_running, wait_for
from workplace import Answer, Workplace

from assay.process.leftovers import SESSION, find_started_for
from assay.record import Outcome, Record

WRITES = """
import json, os, pathlib, signal, subprocess, sys, time
out = pathlib.Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
(out / "params.json").write_text("{}")
(out / "metrics.json").write_text(json.dumps({"is_success": True}))
entry, records, supervisor = out.parent, out.parent.parent / "results.jsonl", os.getppid()
"""
DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    open("daemon", "w").write(str(os.getpid()))
    os.execve("/bin/sleep", ["sleep", "60"], {})
while not os.path.exists("daemon"): time.sleep(0.01)
"""
PROGRAMS = {
    "stops": "os.kill(supervisor, signal.SIGSTOP); time.sleep(60)",
    "kills": DAEMON + "os.kill(supervisor, signal.SIGKILL); time.sleep(60)",
    "own_fifo": "os.mkfifo(entry / 'results.jsonl')",
    "link": "os.rename(records, 'taken'); records.symlink_to(os.path.abspath('taken'))",
    "folder": "os.unlink(records); os.mkdir(records)",
    "after": "pass",
}


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workplace, Answer, dict[str, Record]]:
    place = Workplace(tmp_path_factory.mktemp("attacked"))
    entries = ""
    for name, code in PROGRAMS.items():
        place.write(f"scripts/{name}.py", WRITES + code)
        entries += f"  - {{name: {name}, script: {name}.py, timeout_s: 3, grace_s: 0.3}}\n"
    place.write("session.yaml", f"results_dir: results\nentries:\n{entries}")
    answer = place.assay("run", "--config", "session.yaml")
    return place, answer, place.records()


def test_a_session_outlives_what_its_programs_do_to_it(attacked: tuple[Workplace, Answer, dict[str, Record]]) -> None:
    place, answer, records = attacked
    assert answer.code == 1, answer.err
    outcomes = {name: record.outcome for name, record in records.items()}
    assert outcomes == {
        "stops": Outcome.TIMEOUT,
        "kills": Outcome.FAILED,
        **dict.fromkeys(("own_fifo", "link", "folder", "after"), Outcome.PASSED),
    }
    assert place.sessions()[-1].info().status == "finished"


def test_a_run_whose_supervisor_was_killed_is_said_to_have_run(
    attacked: tuple[Workplace, Answer, dict[str, Record]],
) -> None:
    place, _, records = attacked
    assert (
        records["kills"]
        .reasons[0]
        .startswith(
            "its supervisor process was ended by SIGKILL while the program ran: how it would have ended is not known"
        )
    )
    assert not is_running(int((place.folder / "daemon").read_text()))
    assert "was stopped for a while" in " ".join(records["stops"].warnings)


def test_what_a_link_leads_to_is_not_written(attacked: tuple[Workplace, Answer, dict[str, Record]]) -> None:
    place, _, _ = attacked
    taken = [json.loads(line)["name"] for line in (place.folder / "taken").read_text().splitlines()]
    assert taken == ["stops", "kills", "own_fifo"]


def test_a_closed_terminal_interrupts_and_the_session_can_go_on(workplace: Workplace) -> None:
    five(workplace, seconds=0.3)
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(workplace.folder)
        os.execve(sys.executable, workplace.argv("run", "--config", "session.yaml"), workplace.environment)
    wait_for(workplace.folder / "started.log", "b ")
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 130
    session = workplace.sessions()[-1]
    assert session.info().status == "interrupted"
    assert session.records()[0].success

    answer = workplace.assay("run", "--resume", "latest")
    assert answer.code == 0, answer.err
    assert sorted(record.name for record in workplace.sessions()[-1].records()) == list(ENTRIES)
    assert (workplace.folder / "done.log").read_text().split().count("a") == 1


def test_nohup_is_respected(workplace: Workplace) -> None:
    five(workplace, seconds=0.1)
    assay = subprocess.Popen(
        ["nohup", *workplace.argv("run", "--config", "session.yaml")],
        cwd=workplace.folder,
        env=workplace.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for(workplace.folder / "started.log", "b ")
    assay.send_signal(signal.SIGHUP)
    assert assay.wait(timeout=60) == 0
    assert workplace.sessions()[-1].info().status == "finished"


def test_however_often_ctrl_c_is_pressed_the_run_has_its_record(workplace: Workplace) -> None:
    workplace.write("scripts/stubborn.py", "import signal, time\nsignal.signal(15, signal.SIG_IGN)\ntime.sleep(60)\n")
    config = "results_dir: results\nentries:\n  - {name: stubborn, script: stubborn.py, grace_s: 50}\n"
    workplace.write("session.yaml", config)
    assay = workplace.start("run", "--config", "session.yaml")
    deadline = time.monotonic() + 30
    while not (log := [*(workplace.folder / "results").glob("*/stubborn/usage.csv")]) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert log
    for _ in range(8):
        assay.send_signal(signal.SIGINT)
        time.sleep(0.1)
    # An interpreter that was interrupted in the middle of an import ends itself with the signal: 130 in a shell.
    assert assay.wait(timeout=30) in (130, -signal.SIGINT)
    session = workplace.sessions()[-1]
    assert [record.outcome for record in session.records()] == [Outcome.INTERRUPTED]
    assert session.info().status == "interrupted"


def test_an_entry_that_is_no_longer_configured_gets_its_record(workplace: Workplace) -> None:
    five(workplace, seconds=20)
    assay = workplace.start("run", "--config", "session.yaml")
    wait_for(workplace.folder / "started.log", "a ")
    assay.kill()
    assay.wait()
    session = workplace.sessions()[-1]
    assert all_end(sorted(find_started_for(SESSION, str(session.path.resolve()))))
    five(workplace, seconds=0.01)
    without = (workplace.folder / "session.yaml").read_text().replace("name: a,", "name: z,")
    workplace.write("session.yaml", without)
    for _ in range(2):  # once more changes nothing
        answer = workplace.assay("run", "--resume", "latest")
        assert answer.code == 130, answer.err
        records = [(record.name, record.outcome) for record in workplace.sessions()[-1].records()]
        assert records[0] == ("a", Outcome.INTERRUPTED)
        assert sorted(name for name, _ in records) == ["a", "b", "c", "d", "e", "z"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["../outside", "/tmp/assay-outside", "link"])
def test_what_stands_in_a_session_folder_leads_nowhere_else(workplace: Workplace, name: str) -> None:
    five(workplace, seconds=0.01)
    assert workplace.assay("run", "--config", "session.yaml").code == 0
    session = workplace.sessions()[-1]
    elsewhere = workplace.folder / "elsewhere"
    elsewhere.mkdir()
    (session.path / "link").symlink_to(elsewhere)
    first = json.loads(session.results.read_text().splitlines()[0])
    forged = {**first, "name": name, "run_id": f"{session.path.name}/{name}/run-01", "outcome": "interrupted"}
    with session.results.open("a") as file:
        file.write(json.dumps({**forged, "success": False}) + "\n")
    before = set(workplace.folder.rglob("*"))
    answer = workplace.assay("run", "--resume", "latest")
    assert answer.code in (1, 130), answer.err
    outside = {path for path in workplace.folder.rglob("*") if session.path not in path.parents} - before
    assert outside == set()
    assert not Path("/tmp/assay-outside").exists()
    assert list(elsewhere.iterdir()) == []


def test_a_program_that_took_the_place_of_its_results_keeps_nobody_from_going_on(workplace: Workplace) -> None:
    five(workplace, seconds=0.01)
    assert workplace.assay("run", "--config", "session.yaml").code == 0
    session = workplace.sessions()[-1]
    lines = [json.loads(line) for line in session.results.read_text().splitlines()]
    lines[0].update(outcome="interrupted", success=False)
    session.results.write_text("".join(json.dumps(line) + "\n" for line in lines))
    own = session.path / "a" / "results.jsonl"
    own.unlink()
    os.mkfifo(own)
    assert workplace.assay("run", "--resume", "latest").code == 0
    assert [json.loads(line)["outcome"] for line in own.read_text().splitlines()] == ["interrupted", "passed"]


def test_what_still_runs_of_a_killed_session_ends_before_it_goes_on(workplace: Workplace) -> None:
    five(workplace, seconds=0.01)
    assert workplace.assay("run", "--config", "session.yaml").code == 0
    session = workplace.sessions()[-1]
    marks = {SESSION: str(session.path.resolve()), "ASSAY_RUN_ID": f"{session.path.name}/a/run-01"}
    left = subprocess.Popen(["sleep", "60"], env={**os.environ, **marks})
    delivering = subprocess.Popen(["sleep", "60"], env={**os.environ, SESSION: str(session.path.resolve())})
    try:
        assert workplace.assay("run", "--resume", "latest").code == 0
        assert left.wait(timeout=20) == -signal.SIGKILL
        assert delivering.poll() is None
    finally:
        for process in (left, delivering):
            process.kill()
            process.wait()


FILLS = """
import json, os, pathlib, sys
out = pathlib.Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
big = out.parent.parent.parent / "big"
if sys.argv[1] == "fill":
    with open(big, "wb", buffering=0) as file:
        try:
            while True: file.write(b"x" * 4096)
        except OSError: pass
if sys.argv[1] == "free": big.unlink()
(out / "params.json").write_text("{}")
(out / "metrics.json").write_text(json.dumps({"is_success": True}))
"""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_disk_that_fills_up_costs_what_ran_then(workplace: Workplace, disk: Path) -> None:
    workplace.write("scripts/step.py", FILLS)
    steps = {"before": "ok", "fills": "fill", "while_full": "ok", "frees": "free", "after": "ok"}
    entries = "".join(f"  - {{name: {name}, script: step.py, args: {word}}}\n" for name, word in steps.items())
    workplace.write("session.yaml", f"results_dir: {disk}\nentries:\n{entries}")
    answer = workplace.assay("run", "--config", "session.yaml")
    assert answer.code == 1, answer.err
    session = workplace.sessions(str(disk))[-1]
    outcomes = {record.name: record.success for record in session.records()}
    assert outcomes.keys() == steps.keys(), answer.out
    assert outcomes["before"]
    assert not outcomes["fills"]


@pytest.mark.slow
def test_what_can_only_be_read_is_still_shown(workplace: Workplace, disk: Path) -> None:
    workplace.write("session.yaml", f"results_dir: {disk}/results\nentries:\n  - {{name: one, command: 'true'}}\n")
    for _ in range(2):
        assert workplace.assay("run", "--config", "session.yaml").code == 0
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    workplace.environment["ASSAY_RESULTS_DIR"] = f"{disk}/results"
    for words in (
        ("show", "latest"),
        ("history", "list"),
        ("history", "show", "one"),
        ("compare", "latest~1", "latest"),
        ("report", "latest", "--output", str(workplace.folder / "page.html")),
        ("logs", "one"),
    ):
        answer = workplace.assay(*words)
        assert answer.code in (0, 4), (words, answer)
    for words in (
        ("run", "--config", "session.yaml"),
        ("run", "--resume", "latest"),
        ("rerun", "latest/one"),
        ("report", "latest"),
        ("history", "import"),
        ("prune", "--keep", "1"),
    ):
        answer = workplace.assay(*words)
        assert answer.code in (0, 1, 2), (words, answer)
        assert answer.code == 0 or answer.err.startswith("assay: "), (words, answer)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["full", "read-only"])
def test_a_place_that_cannot_be_written_is_one_message(workplace: Workplace, disk: Path, kind: str) -> None:
    workplace.write("session.yaml", "results_dir: results\nentries:\n  - {name: one, command: 'true'}\n")
    assert workplace.assay("run", "--config", "session.yaml").code == 0
    if kind == "full":
        with (disk / "big").open("wb", buffering=0) as big, pytest.raises(OSError, match="No space"):
            while True:
                big.write(b"x" * 4096)
    else:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    for words in (
        ("run", "--config", "session.yaml", "--results-dir", f"{disk}/results"),
        ("run", "--runs", "1", "--results-dir", f"{disk}/results", "--", "true"),
        ("report", "latest", "--output", f"{disk}/page.html"),
        ("history", "export", f"{disk}/rows.csv"),
        ("init", f"{disk}/new"),
    ):
        answer = workplace.assay(*words)
        assert answer.code == 2, (words, answer)
        assert [line.startswith("assay: ") for line in answer.err.splitlines()] == [True], (words, answer)
