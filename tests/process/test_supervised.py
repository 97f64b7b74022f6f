from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from assay.process.spec import CompanionSpec, ProcessResult, ProcessSpec
from assay.process.supervisor_client import Supervised
from assay.process.tree import Tree

ESCAPE = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open("escaped", "w").write(str(os.getpid()))
        while True: time.sleep(0.05)
    os._exit(0)
while True: time.sleep(0.05)
"""


def start(folder: Path, argv: list[str], **limits: object) -> Supervised:
    files = {name: folder / name for name in ("stdout", "stderr", "combined")}
    spec = ProcessSpec(argv=argv, env=dict(os.environ), cwd=folder, usage_csv=folder / "usage.csv", **files, **limits)
    return Supervised(spec)


def run(folder: Path, argv: list[str], **limits: object) -> ProcessResult:
    return start(folder, argv, **limits).wait()


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ends(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_running(pid)


def appears(path: Path) -> str:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if path.exists() and path.read_text():
            return path.read_text()
        time.sleep(0.01)
    raise AssertionError(f"{path} did not appear")


def test_the_code_and_the_signal_of_a_program_are_reported(tmp_path: Path) -> None:
    assert run(tmp_path, ["sh", "-c", "exit 3"]).returncode == 3
    assert run(tmp_path, ["sh", "-c", "kill -SEGV $$"]).returncode == -signal.SIGSEGV


def test_output_is_kept_apart_and_together_byte_for_byte(tmp_path: Path) -> None:
    out = "os.write(1, b'\\xff' + b'x' * 1_000_000 + b'\\xfe')"
    run(tmp_path, python(f"import os; {out}; os.write(2, b'\\x80err'); os.write(1, b'\\nend')"))
    out, err = (tmp_path / "stdout").read_bytes(), (tmp_path / "stderr").read_bytes()
    assert out == b"\xff" + b"x" * 1_000_000 + b"\xfe\nend"
    assert err == b"\x80err"
    assert len((tmp_path / "combined").read_bytes()) == len(out) + len(err)


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = run(tmp_path, ["no-such-program"])
    assert result.failure == "cannot start no-such-program: No such file or directory"


def test_a_double_forked_child_that_ignores_sigterm_is_ended(tmp_path: Path) -> None:
    result = run(tmp_path, python(ESCAPE), timeout_s=1.0, grace_s=0.3)
    assert result.ended_because == "timeout"
    assert not is_running(int((tmp_path / "escaped").read_text()))


def test_a_time_limit_fires_while_a_grandchild_holds_the_pipe(tmp_path: Path) -> None:
    result = run(tmp_path, ["sh", "-c", "sleep 60 & wait"], timeout_s=0.3, grace_s=0.2)
    assert result.ended_because == "timeout"


def test_a_time_limit_fires_after_the_program_closed_its_output(tmp_path: Path) -> None:
    result = run(
        tmp_path, python("import os, time; os.close(1); os.close(2); time.sleep(60)"), timeout_s=0.5, grace_s=0.2
    )
    assert result.ended_because == "timeout"


def test_what_a_program_leaves_running_is_ended_and_counted(tmp_path: Path) -> None:
    result = run(tmp_path, ["sh", "-c", "sleep 60 & echo $! > left"])
    assert (result.returncode, result.left_behind) == (0, 1)
    assert not is_running(int((tmp_path / "left").read_text()))


def test_a_memory_limit_ends_the_run(tmp_path: Path) -> None:
    result = run(tmp_path, python("import time; x = b'x' * (200 << 20); time.sleep(60)"), memory_mb=100, grace_s=0.2)
    assert result.ended_because == "memory"


def test_usage_is_of_the_whole_tree(tmp_path: Path) -> None:
    burn = "import time\nwhile time.process_time() < 0.3: pass\nx = b'x' * (50 << 20)"
    parent = f"import subprocess, sys; [subprocess.run([sys.executable, '-c', {burn!r}]) for _ in range(2)]"
    usage = run(tmp_path, python(parent)).usage
    assert usage["cpu_s"] >= 0.6
    assert usage["peak_rss_mb"] >= 50
    rows = (tmp_path / "usage.csv").read_text().splitlines()
    assert rows[0] == "t_s,cpu_s,rss_mb,read_mb,write_mb,threads,processes,steal_s,busy_s"
    assert len(rows) == usage["samples"] + 1
    assert float(rows[-1].split(",")[1]) <= usage["cpu_s"] + 0.05


def test_the_peak_is_the_programs_however_large_the_process_that_started_it_is(tmp_path: Path) -> None:
    """Short peaks come from the kernel's accounts, which in a large parent's child begin with the parent's."""
    large = bytearray(200 << 20)
    large[::4096] = b"x" * len(large[::4096])
    burn = "import time\nwhile time.process_time() < 0.2: pass\nx = b'x' * (60 << 20)"
    usage = run(tmp_path, python(burn)).usage
    assert 60 <= usage["peak_rss_mb"] < 150
    assert len(large) == 200 << 20


def test_processors_can_be_limited(tmp_path: Path) -> None:
    run(tmp_path, python("import os; print(len(os.sched_getaffinity(0)))"), cpus=[0])
    assert (tmp_path / "stdout").read_text() == "1\n"


def test_ended_from_outside_with_a_reason(tmp_path: Path) -> None:
    supervised = start(tmp_path, ["sleep", "60"])
    for status in supervised.statuses(timeout_s=0.1):
        if status is None and supervised.pid:
            supervised.end("interrupted")
    assert supervised.result is not None
    assert supervised.result.ended_because == "interrupted"


def test_when_assay_is_killed_the_whole_tree_ends(tmp_path: Path) -> None:
    holder = f"""
import sys; sys.path[:0] = {sys.path!r}
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_supervised import start, python, ESCAPE
start(Path({str(tmp_path)!r}), python(ESCAPE), grace_s=0.2).wait()
"""
    assay = subprocess.Popen([sys.executable, "-c", holder])
    escaped = int(appears(tmp_path / "escaped"))
    assay.kill()
    assay.wait()
    assert ends(escaped)


def test_when_the_supervisor_is_killed_the_run_is_a_failure_not_a_hang(tmp_path: Path) -> None:
    supervised = start(tmp_path, ["sleep", "60"])
    for status in supervised.statuses(timeout_s=0.1):
        if status is None and supervised.pid:
            supervised._process.kill()
    assert supervised.result is not None
    assert supervised.result.unseen == "its supervisor process was ended by SIGKILL"
    assert supervised.result.failure == ""
    assert ends(supervised.pid or 0)


def test_a_companion_is_ready_before_the_program_starts_and_ends_with_it(tmp_path: Path) -> None:
    service = python(
        "import os, time; open('service', 'w').write(str(os.getpid())); print('UP', flush=True); time.sleep(60)"
    )
    companion = CompanionSpec("service", service, dict(os.environ), tmp_path, tmp_path / "log", ready="UP")
    result = run(tmp_path, ["sh", "-c", "test -s service"], companion=companion)
    assert (result.returncode, result.left_behind) == (0, 0)
    assert result.companion_s > 0
    assert not is_running(int((tmp_path / "service").read_text()))


def test_a_companion_that_fails_is_tried_again_and_then_named(tmp_path: Path) -> None:
    failing = ["sh", "-c", "echo no luck; exit 7"]
    companion = CompanionSpec("service", failing, dict(os.environ), tmp_path, tmp_path / "log", ready="UP", attempts=2)
    result = run(tmp_path, ["true"], companion=companion)
    assert result.failure.startswith("service ended with 7 while starting; see ")
    assert (tmp_path / "log").read_text().count("\nno luck") == 2


def test_a_namespace_has_only_loopback_and_its_own_processes(tmp_path: Path) -> None:
    result = run(tmp_path, ["sh", "-c", "ls /sys/class/net; ip -o link; ls -d /proc/[0-9]* | wc -l"], namespace=True)
    assert result.returncode == 0
    links = (tmp_path / "stdout").read_text()
    assert "eth0:" not in links
    assert "lo:" in links


def test_a_tree_is_walked_anew_when_processes_come_and_go() -> None:
    tree = Tree(os.getpid())
    before = set(tree.walk())
    child = subprocess.Popen(["sleep", "60"])
    assert tree.walk() - before == {child.pid}
    child.kill()
    child.wait()
    assert child.pid not in tree.walk()
