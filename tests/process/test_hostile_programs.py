"""Programs that attack what watches over them: the limit fires all the same, and nothing of them is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_supervised import appears, ends, is_running, python, run, start

from assay.process.leftovers import SESSION, find_started_for
from assay.process.limits import MemoryGroup
from assay.process.message import Inbox, send
from assay.process.spec import ProcessResult

DAEMON = """
import os, signal, sys, time
supervisor = os.getppid()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        {before}
        open("daemon", "w").write(str(os.getpid()))
        time.sleep(60)
    os._exit(0)
os.wait()
while not os.path.exists("daemon") or not open("daemon").read(): time.sleep(0.01)
"""
EMPTY_ENVIRONMENT = """os.execve(sys.executable, [sys.executable, "-c",
            "import os, time; open('daemon', 'w').write(str(os.getpid())); time.sleep(60)"], {})"""


@pytest.mark.parametrize("before", ["pass", EMPTY_ENVIRONMENT], ids=["marked", "without its environment"])
def test_a_program_that_kills_its_supervisor_leaves_no_daemon_and_is_said_to_have_run(
    tmp_path: Path, before: str
) -> None:
    attack = "os.kill(supervisor, signal.SIGKILL)\ntime.sleep(60)"
    result = run(tmp_path, python(DAEMON.format(before=before) + attack), timeout_s=30)
    assert result.failure == ""
    assert result.unseen == "its supervisor process was ended by SIGKILL"
    assert result.left_behind >= 2
    assert not is_running(int((tmp_path / "daemon").read_text()))


def test_a_program_that_has_ended_itself_with_its_supervisor_leaves_nothing_either(tmp_path: Path) -> None:
    attack = "os.kill(supervisor, signal.SIGKILL)\nos._exit(0)"
    result = run(tmp_path, python(DAEMON.format(before=EMPTY_ENVIRONMENT) + attack), timeout_s=30)
    assert result.unseen
    assert not is_running(int((tmp_path / "daemon").read_text()))


def test_children_of_ours_are_not_taken_for_what_a_supervisor_left(tmp_path: Path) -> None:
    before = subprocess.Popen(["sleep", "60"], start_new_session=True)
    supervised = start(tmp_path, python("import os, time; time.sleep(0.2); os.kill(os.getppid(), 9); time.sleep(60)"))
    same_session = subprocess.Popen(["sleep", "60"])
    try:
        assert supervised.wait().unseen
        assert before.poll() is None
        assert same_session.poll() is None
    finally:
        for process in (before, same_session):
            process.kill()
            process.wait()


def test_a_supervisor_that_was_stopped_is_told_to_go_on(tmp_path: Path) -> None:
    attack = "import os, signal, time; os.kill(os.getppid(), signal.SIGSTOP); time.sleep(60)"
    result = run(tmp_path, python(attack), timeout_s=1.0, grace_s=0.2)
    assert (result.ended_because, result.stopped, result.unseen) == ("timeout", True, "")


@pytest.mark.slow
def test_a_supervisor_that_is_kept_stopped_is_given_up_at_the_limit(tmp_path: Path) -> None:
    attack = """
import os, signal, time
supervisor = os.getppid()
if os.fork() == 0: open("child", "w").write(str(os.getpid()))
while True: os.kill(supervisor, signal.SIGSTOP)
"""
    result = run(tmp_path, python(attack), timeout_s=1.0, grace_s=0.2)
    assert result.ended_because == "timeout"
    assert not is_running(int((tmp_path / "child").read_text()))


def test_a_time_limit_fires_while_nobody_reads_the_reports(tmp_path: Path) -> None:
    """The pipe of the reports is full from the start, as it is while Assay is stopped."""
    supervised = start(tmp_path, ["sh", "-c", "echo $$ > pid; sleep 60"], timeout_s=1.0, grace_s=0.2)
    writer = os.open(f"/proc/self/fd/{supervised._status}", os.O_WRONLY | os.O_NONBLOCK)
    program = int(appears(tmp_path / "pid"))
    filler = b"x" * 4096
    try:
        while True:
            os.write(writer, filler)
    except BlockingIOError:
        pass
    try:
        assert ends(program)
    finally:
        os.close(writer)
    supervised.wait()


FORGED = {
    "a result": b"\0" * 16 + (9).to_bytes(4, "big") + b"finished!",
    "a size without end": b"\0" * 16 + b"\xff" * 4,
    "half a frame": b"\0" * 5,
}


@pytest.mark.parametrize("pipe", ["control", "status"])
@pytest.mark.parametrize("kind", FORGED)
def test_what_others_write_on_the_pipes_is_never_taken_for_a_message(tmp_path: Path, kind: str, pipe: str) -> None:
    supervised = start(tmp_path, ["sh", "-c", "echo $$ > pid; sleep 60"], timeout_s=1.5, grace_s=0.2)
    program = int(appears(tmp_path / "pid"))
    descriptor = supervised._status if pipe == "status" else supervised._control
    forger = os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY)
    os.write(forger, FORGED[kind])
    os.close(forger)
    result = supervised.wait()
    assert result.returncode in (None, -signal.SIGTERM)
    assert result.ended_because == "timeout" or "wrote on" in result.ended_because + result.unseen
    assert ends(program)


def test_a_supervisor_that_is_dead_while_its_pipe_is_held_open_is_noticed(tmp_path: Path) -> None:
    supervised = start(tmp_path, ["sh", "-c", "echo $$ > pid; sleep 60"], timeout_s=60)
    program = int(appears(tmp_path / "pid"))
    holder = os.open(f"/proc/self/fd/{supervised._status}", os.O_WRONLY)
    try:
        supervised._process.kill()
        result = supervised.wait()
    finally:
        os.close(holder)
    assert result.unseen
    assert not is_running(program)


def test_an_error_in_the_supervisor_ends_the_tree_and_is_told(tmp_path: Path) -> None:
    broken = {"usage_csv": tmp_path / "no" / "usage.csv"}
    result: ProcessResult = _run_with(tmp_path, broken)
    assert "Traceback" not in (tmp_path / "stderr").read_text()
    assert result.returncode == 0 or "supervisor process failed" in result.failure


def _run_with(folder: Path, changes: dict[str, object]) -> ProcessResult:
    from dataclasses import replace

    from assay.process.spec import ProcessSpec
    from assay.process.supervisor_client import Supervised

    files = {name: folder / name for name in ("stdout", "stderr", "combined")}
    spec = ProcessSpec(argv=["true"], env=dict(os.environ), cwd=folder, **files)
    return Supervised(replace(spec, **changes)).wait()


def test_asked_twice_a_tree_is_killed_at_once(tmp_path: Path) -> None:
    stubborn = "trap '' TERM; echo ready > ready; while :; do sleep 0.1; done"
    supervised = start(tmp_path, ["sh", "-c", stubborn], grace_s=3600)
    appears(tmp_path / "ready")
    supervised.end("interrupted")
    supervised.end("interrupted")
    result = supervised.wait()
    assert (result.ended_because, result.returncode) == ("interrupted", -signal.SIGKILL)


def test_every_process_of_a_session_is_found_by_its_mark(tmp_path: Path) -> None:
    os.environ[SESSION] = str(tmp_path)
    try:
        supervised = start(tmp_path, ["sh", "-c", "echo $$ > pid; sleep 60 & wait"])
        program = int(appears(tmp_path / "pid"))
        found = find_started_for(SESSION, str(tmp_path))
    finally:
        del os.environ[SESSION]
    supervised.end("enough")
    supervised.wait()
    assert {program, supervised._process.pid} <= found
    assert len(found) >= 2


def test_frames_come_whole_or_not_at_all() -> None:
    read, write = os.pipe()
    inbox = Inbox(read, b"t" * 16)
    send(write, b"t" * 16, ("status", 1))
    os.write(write, b"t" * 7)
    assert inbox.take() == [("status", 1)]
    assert inbox.take() == []
    os.write(write, b"t" * 9 + b"\xff" * 4)
    assert inbox.take() == []
    assert inbox.forged
    os.close(read)
    os.close(write)


def test_a_supervisor_whose_assay_died_ends_the_tree_though_the_pipe_is_held_open(tmp_path: Path) -> None:
    holder = f"""
import os, sys, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from test_supervised import start
supervised = start(Path({str(tmp_path)!r}), ["sh", "-c", "echo $$ > pid; sleep 60"])
print(supervised._process.pid, supervised._control, flush=True)
time.sleep(60)
"""
    assay = subprocess.Popen([sys.executable, "-c", holder], stdout=subprocess.PIPE, text=True)
    assert assay.stdout is not None
    _, control = assay.stdout.readline().split()
    program = int(appears(tmp_path / "pid"))
    held = os.open(f"/proc/{assay.pid}/fd/{control}", os.O_WRONLY)
    try:
        assay.kill()
        assay.wait()
        deadline = time.monotonic() + 20
        while is_running(program) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not is_running(program)
    finally:
        os.close(held)
        assay.stdout.close()


def test_memory_that_is_taken_between_two_samples_is_refused(tmp_path: Path) -> None:
    """A control group refuses it, where the machine permits one: the tests' machine does."""
    burst = "x = b'x' * (300 << 20); open('took', 'w').write('all')"
    result = run(tmp_path, python(burst), memory_mb=100, sample_hz=0.01, grace_s=0.2)
    group = MemoryGroup.make(100)
    if group is None:
        assert (tmp_path / "took").exists()
    else:
        group.close()
        assert result.ended_because == "memory"
        assert not (tmp_path / "took").exists()
