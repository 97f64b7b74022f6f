"""Children that Assay may not signal, as sudo and setuid programs are: named, outlived, and everything else is ended.

Assay runs as root without the capability to signal other users' processes, so a child that becomes `nobody` is to it
what root's child is to an ordinary user: it can be neither signalled nor looked into. The tests themselves may end it.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_supervised import appears, ends, is_running, python, run
from workplace import Workplace

from assay.process.leftovers import SESSION, find_started_for
from assay.process.spec import Unended, unended_warnings
from assay.record import Outcome, Record

NOBODY = 65534
OWNER = pwd.getpwuid(NOBODY).pw_name
FREEZER = Path("/sys/fs/cgroup/freezer")
WITHOUT = ",".join(f"-{name}" for name in ("kill", "sys_ptrace", "sys_admin", "perfmon"))
"""Capabilities to signal other users' processes and to read their environment and I/O."""
CHILDREN = """
import os, pathlib, subprocess, sys, time
HERE = pathlib.Path(__file__).parent
def note(name, pid):
    with open(HERE / name, "a") as file: file.write(f"{pid}\\n")
def become_nobody():
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
def foreign(*argv):
    pid = os.fork()
    if pid == 0:
        os.setsid()
        note("foreign", os.getpid())
        become_nobody()
        os.execvp(argv[0], argv)
    while pathlib.Path(f"/proc/{pid}/comm").read_text().strip() != argv[0]: time.sleep(0.005)
def own(count):
    for _ in range(count): note("own", subprocess.Popen(["sleep", "600"], start_new_session=True).pid)
def family():
    own(5); foreign("sleep", "600"); own(4); note("ready", os.getpid())
def keep_metrics(**values):
    import json
    folder = sys.argv[sys.argv.index("--benchmark-results-path") + 1]
    pathlib.Path(folder, "params.json").write_text("{}")
    pathlib.Path(folder, "metrics.json").write_text(json.dumps(values))
"""
HANGS = "from children import *\nfamily()\ntime.sleep(600)\n"
LEAVES = "from children import *\nfamily()\nkeep_metrics(answer=42)\n"
PLAIN = "from children import *\nkeep_metrics(answer=1)\n"


class Restricted(Workplace):
    """A workplace whose Assay may signal only the processes of its own user."""

    def argv(self, *words: str) -> list[str]:
        return ["setpriv", f"--bounding-set={WITHOUT}", f"--inh-caps={WITHOUT}", *super().argv(*words)]

    def session(self, entries: str, **scripts: str) -> None:
        for name, text in {"children": CHILDREN, **scripts}.items():
            self.write(f"{name}.py", text)
        self.write("session.yaml", f"results_dir: results\nentries:\n{entries}")

    def pids(self, name: str) -> list[int]:
        path = self.folder / name
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def named(self, *, name: str = "sleep", of: str = "") -> str:
        (pid,) = self.pids("foreign")
        return (
            f"process {pid} ({name}, owned by {OWNER}){of} could not be ended: "
            f"Assay runs as root and may not signal it. End it as {OWNER} or root: kill {pid}"
        )


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Restricted]:
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        pytest.fail("this test makes processes of another user: run it as root, with setpriv (Debian's util-linux)")
    place = Restricted(tmp_path)
    try:
        yield place
    finally:
        for pid in [*place.pids("foreign"), *place.pids("own")]:
            if is_running(pid):
                os.kill(pid, signal.SIGKILL)


def run_session(place: Restricted, entries: str, **scripts: str) -> dict[str, Record]:
    place.session(entries, **scripts)
    place.assay("run", "--config", "session.yaml")
    assert place.sessions()[-1].info().status == "finished"
    return place.records()


def is_plain(record: Record) -> bool:
    return (record.outcome, record.warnings, record.metrics["answer"].value) == (Outcome.PASSED, (), 1)


def test_at_the_time_limit_the_process_is_named_and_everything_else_is_ended(place: Restricted) -> None:
    entries = "  - {name: hangs, script: hangs.py, timeout_s: 2, grace_s: 0.3}\n  - {name: next, script: plain.py}\n"
    records = run_session(place, entries, hangs=HANGS, plain=PLAIN)
    record = records["hangs"]
    assert (record.outcome, record.reasons) == (Outcome.TIMEOUT, ("ran longer than its limit of 2 s",))
    assert record.warnings == (place.named(),)
    assert record.usage.samples > 0
    assert len(place.pids("own")) == 9
    assert not any(map(is_running, place.pids("own")))
    assert is_plain(records["next"])


def test_a_run_that_leaves_the_process_behind_keeps_its_measurements(place: Restricted) -> None:
    entries = "  - {name: leaves, script: leaves.py, grace_s: 0.3}\n  - {name: next, script: plain.py}\n"
    records = run_session(place, entries, leaves=LEAVES, plain=PLAIN)
    record = records["leaves"]
    assert (record.outcome, record.reasons, record.returncode) == (Outcome.PASSED, (), 0)
    assert record.metrics["answer"].value == 42
    assert record.usage.cpu_s > 0
    assert record.warnings == ("left 9 process(es) running; they were ended", place.named())
    assert not any(map(is_running, place.pids("own")))
    assert is_plain(records["next"])
    assert records["next"].usage.peak_processes == 1


def test_what_the_process_used_counts_up_to_the_programs_end(place: Restricted) -> None:
    spins = """from children import *
from assay.process.tree import cpu_s
foreign("perl", "-e", "1 while 1")
while cpu_s(int((HERE / "foreign").read_text())) < 0.4: time.sleep(0.01)
"""
    record = run_session(place, "  - {name: a, script: spins.py, grace_s: 4}\n", spins=spins)["a"]
    assert 0.4 <= record.usage.cpu_s <= 2 * record.exec_time_s, (
        "two processes, and not what one of them used afterwards"
    )


def test_a_process_that_never_stops_writing_does_not_hold_up_the_run(place: Restricted) -> None:
    noisy = "from children import *\nforeign('yes')\nkeep_metrics(answer=42)\n"
    record = run_session(place, "  - {name: a, script: noisy.py, grace_s: 0.2}\n", noisy=noisy)["a"]
    assert (record.outcome, record.metrics["answer"].value) == (Outcome.PASSED, 42)


def test_a_program_that_is_itself_out_of_reach_times_out(place: Restricted) -> None:
    becomes = "from children import *\nown(3)\nnote('foreign', os.getpid())\nbecome_nobody()\ntime.sleep(600)\n"
    entries = (
        "  - {name: becomes, script: becomes.py, timeout_s: 2, grace_s: 0.3}\n  - {name: next, script: plain.py}\n"
    )
    records = run_session(place, entries, becomes=becomes, plain=PLAIN)
    assert records["becomes"].outcome is Outcome.TIMEOUT
    name = Path(f"/proc/{place.pids('foreign')[0]}/comm").read_text().strip()
    assert records["becomes"].warnings == (place.named(name=name),)
    assert not any(map(is_running, place.pids("own")))
    assert is_plain(records["next"])


def test_when_assay_is_killed_everything_else_ends_and_the_session_can_be_resumed(place: Restricted) -> None:
    place.session(
        "  - {name: a, script: a.py, grace_s: 0.3}\n  - {name: next, script: plain.py}\n", a=HANGS, plain=PLAIN
    )
    assay = place.start("run", "--config", "session.yaml")
    program = int(appears(place.folder / "ready"))
    own, (foreign,) = place.pids("own"), place.pids("foreign")
    assay.kill()
    assay.wait()
    assert all(ends(pid) for pid in [program, *own])
    assert len(own) == 9
    session = str(place.sessions()[-1].path.resolve())
    deadline = time.monotonic() + 20
    while find_started_for(SESSION, session) - {foreign} and time.monotonic() < deadline:
        time.sleep(0.02)
    assert find_started_for(SESSION, session) == {foreign}, "its supervisor has ended as well"

    place.write("a.py", PLAIN)
    answer = place.assay("run", "--resume", "latest")
    assert answer.code == 0, answer.out + answer.err
    assert is_plain(place.records()["a"])
    assert is_plain(place.records()["next"])


def test_when_the_supervisor_is_killed_everything_else_ends_and_the_process_is_named(place: Restricted) -> None:
    kills = "from children import *\nfamily()\nos.kill(os.getppid(), 9)\ntime.sleep(600)\n"
    entries = (
        "  - {name: kills, script: kills.py}\n  - {name: again, script: again.py}\n  - {name: next, script: plain.py}\n"
    )
    again = "from children import *\nos.kill(os.getppid(), 9)\ntime.sleep(600)\n"
    records = run_session(place, entries, kills=kills, again=again, plain=PLAIN)
    assert records["kills"].outcome is Outcome.FAILED
    assert records["kills"].reasons[0].startswith("its supervisor process was ended by SIGKILL")
    assert records["kills"].warnings == ("left 10 process(es) running; they were ended", place.named())
    assert not any(map(is_running, place.pids("own")))
    assert records["again"].warnings == ("left 1 process(es) running; they were ended",), (
        "the first run's is not its own"
    )
    assert is_plain(records["next"])


SERVICE = """
import http.server
from children import *
family()
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()
"""


@pytest.mark.parametrize("restart", ["always", "never"])
def test_a_service_may_leave_such_a_process_too(place: Restricted, restart: str) -> None:
    entries = f"""
  - name: served
    script: plain.py
    service:
      command: ["{sys.executable}", server.py, "{{port}}"]
      restart: {restart}
      stop_timeout_s: 0.3
  - {{name: next, script: plain.py}}
"""
    place.session(entries, server=SERVICE, plain=PLAIN)
    answer = place.assay("run", "--config", "session.yaml")
    records = place.records()
    named = place.named(of=" of the service of served" if restart == "never" else " of the service")
    assert records["served"].outcome is Outcome.PASSED
    assert named in (answer.err if restart == "never" else records["served"].warnings)
    assert not any(map(is_running, place.pids("own")))
    assert is_plain(records["next"])


def test_a_command_before_the_run_may_leave_such_a_process_too(place: Restricted) -> None:
    place.session("", leaves="from children import *\nown(1); foreign('sleep', '600')\n")
    prepare = f"{sys.executable} {place.folder / 'leaves.py'}"
    answer = place.assay("run", "--runs", "1", "--prepare", prepare, "--", "true")
    assert answer.code == 0, answer.out + answer.err
    (record,) = place.records().values()
    assert record.outcome is Outcome.PASSED
    assert record.warnings == (place.named(of=" of --prepare"),)
    assert not any(map(is_running, place.pids("own")))


@pytest.mark.slow
def test_a_ready_command_that_cannot_be_ended_is_named_and_started_once(place: Restricted) -> None:
    entries = f"""
  - name: served
    script: plain.py
    service:
      command: [sleep, "600"]
      url: http://127.0.0.1:9
      ready: {{command: ["{sys.executable}", ready.py]}}
      ready_timeout_s: 11
      stop_timeout_s: 0.3
"""
    ready = (
        "from children import *\nnote('foreign', os.getpid())\nbecome_nobody()\nos.execvp('sleep', ['sleep', '600'])\n"
    )
    record = run_session(place, entries, ready=ready, plain=PLAIN)["served"]
    assert record.outcome is Outcome.FAILED
    assert record.reasons[0] == (
        f"the service was not ready after 11 s: its ready command took longer than 10 s; {place.named()}"
    )


def test_a_pipeline_beside_others_may_leave_such_a_process_too(place: Restricted) -> None:
    stage = """
import children
from assay.pipeline.stage import Stage
class Leaves(Stage):
    def setup(self, *_): children.own(1); children.foreign("sleep", "600")
    def process(self, data): return data
"""
    config = """
name: two
pipelines:
  - name: leaves
    loadgen: {component: single_stream, max_queries: 5}
    stages: [{id: 0, component: leaving.Leaves}]
  - name: plain
    loadgen: {component: single_stream, max_queries: 5}
    stages: [{id: 0, component: no_op}]
"""
    place.session("", leaving=stage)
    place.environment["PYTHONPATH"] += f":{place.folder}"
    place.write("two.yml", config)
    answer = place.assay("colocate", "two.yml", "--results", "out")
    assert answer.code == 0, answer.out + answer.err
    (run,) = json.loads((place.folder / "out" / "colocation.json").read_text())["runs"]
    warnings = {pipeline["pipeline"]: pipeline["warnings"] for pipeline in run["pipelines"]}
    assert place.named() in warnings["leaves"]
    assert not any("could not be ended" in warning for warning in warnings["plain"])
    assert not any(map(is_running, place.pids("own")))


RESTRICTED = f"""
import os, sys, time
sys.path[:0] = {[str(Path(__file__).parent), *sys.path]!r}
from pathlib import Path
from test_supervised import appears, run, start
folder = Path.cwd()
"""


def run_restricted(place: Restricted, code: str, without: str = WITHOUT) -> list[str]:
    """Lines that a Python prints which may signal only processes of its own user."""
    argv = ["setpriv", f"--bounding-set={without}", f"--inh-caps={without}", sys.executable, "-c", RESTRICTED + code]
    done = subprocess.run(
        argv, cwd=place.folder, env=place.environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_companion_that_cannot_be_ended_is_given_up_and_named(place: Restricted) -> None:
    place.session("", fails="from children import *\nown(1); foreign('sleep', '600')\nraise SystemExit(3)\n")
    code = """
from assay.process.spec import CompanionSpec
argv = [sys.executable, "fails.py"]
companion = CompanionSpec("helper", argv, os.environ, folder, folder / "log", ready="never said", attempts=1)
result = run(folder, ["true"], companion=companion, grace_s=0.2)
print(result.failure)
print([process.pid for process in result.immortal])
"""
    failure, immortal = run_restricted(place, code)
    assert failure.startswith("helper ended with 3 while starting")
    assert immortal == str(place.pids("foreign"))
    assert not any(map(is_running, place.pids("own")))


def test_a_tree_with_such_a_process_is_not_paused_by_halves(place: Restricted) -> None:
    place.session("", hangs=HANGS)
    code = """
from assay.process.spawn import continue_tree, stop_tree
from assay.process.tree import stat_fields
supervised = start(folder, [sys.executable, "hangs.py"], grace_s=0.2)
appears(folder / "ready")
own = [int(line) for line in (folder / "own").read_text().split()]
def stopped(wanted):
    until = time.monotonic() + 20
    count = -1
    while count != wanted and time.monotonic() < until: count = sum(stat_fields(pid)[0] == b"T" for pid in own)
    return count
try: stop_tree(supervised.tree)
except PermissionError as error: print(error.strerror)
print(stopped(9))
continue_tree(supervised.tree)
print(stopped(0))
supervised.end("enough")
supervised.wait()
"""
    said, paused, resumed = run_restricted(place, code)
    (pid,) = place.pids("foreign")
    assert said == f"Assay may not stop process {pid}, which another user owns"
    assert (paused, resumed) == ("9", "0")


def test_a_namespace_ends_even_such_a_process(place: Restricted) -> None:
    place.session("")
    place.environment["INSIDE"] = str(place.folder)
    becomes = """
import children, os, time
if os.fork() == 0:
    children.become_nobody()
    os.execvp("sleep", ["sleep", "600"])
time.sleep(0.5)
"""
    code = f"""
result = run(folder, [sys.executable, "-c", {becomes!r}], namespace=True, grace_s=0.3)
print(result.returncode, result.immortal)
"""
    assert run_restricted(place, code, without="-kill") == ["0 ()"]
    deadline = time.monotonic() + 20
    while find_started_for("INSIDE", str(place.folder)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not find_started_for("INSIDE", str(place.folder))


@pytest.mark.slow
def test_a_server_that_a_stage_started_is_left_to_the_supervisor(place: Restricted) -> None:
    server = """from children import *
import socket
note("foreign", os.getpid())
with socket.create_server(("127.0.0.1", int(sys.argv[1]))):
    become_nobody()
    time.sleep(600)
"""
    place.session("", server=server)
    code = """
from assay.stages.llm_server.started_server import StartedServer
server = StartedServer.read({"command": [sys.executable, "server.py", "{port}"]})
server.start(os.environ)
server.end()
print("ended")
"""
    assert run_restricted(place, code) == ["ended"]


def test_only_what_is_in_state_d_is_said_to_hang_in_the_kernel() -> None:
    hangs = Unended(10, "dd", 0, "D")
    assert unended_warnings([hangs]) == [
        "process 10 (dd, owned by root) could not be ended: it hangs in the kernel (state D)"
    ]
    (both,) = unended_warnings([hangs, Unended(11, "cp", 0, "D")], " of the service")
    assert both == (
        "processes 10 (dd, owned by root) and 11 (cp, owned by root) of the service could not be ended: "
        "they hang in the kernel (state D)"
    )
    others = [Unended(12, "sleep", NOBODY, "refused"), Unended(13, "sh", 4_000_000_000, "S")]
    said = unended_warnings(others)
    assert len(said) == 2
    assert not any("kernel" in warning for warning in said)
    assert "process 13 (sh, owned by user 4000000000) did not end within 10 s of SIGKILL (state S)" in said


def test_names_are_shown_without_their_control_characters_and_not_all_of_a_crowd() -> None:
    crowd = [Unended(pid, "a\x1b[2J\nb", None, "refused") for pid in range(1, 101)]
    (warning,) = unended_warnings(crowd)
    assert warning.isprintable()
    assert "processes 1 (" in warning
    assert " and 90 more" in warning
    assert "owned by another user" in warning


@pytest.mark.slow
@pytest.mark.skipif(not FREEZER.is_dir(), reason="only a frozen group of version 1 keeps a process from its SIGKILL")
def test_a_process_that_hangs_in_the_kernel_is_said_to_do_so(tmp_path: Path) -> None:
    group = FREEZER / f"assay-test-hangs-{os.getpid()}"
    group.mkdir()
    freezes = f"""
import os, pathlib, subprocess
child = subprocess.Popen(["sleep", "600"], start_new_session=True)
pathlib.Path("child").write_text(str(child.pid))
pathlib.Path({str(group)!r}, "cgroup.procs").write_text(str(child.pid))
pathlib.Path({str(group)!r}, "freezer.state").write_text("FROZEN")
"""
    try:
        result = run(tmp_path, python(freezes), grace_s=0.2)
        child = int((tmp_path / "child").read_text())
        assert (result.returncode, result.left_behind) == (0, 0)
        assert unended_warnings(result.immortal) == [
            f"process {child} (sleep, owned by root) could not be ended: it hangs in the kernel (state D)"
        ]
    finally:
        (group / "freezer.state").write_text("THAWED")
        assert ends(int((tmp_path / "child").read_text()))
        group.rmdir()
