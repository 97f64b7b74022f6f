"""What is measured is the program's: no interpreter start, no sampling, no companion, no copy of the supervisor."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from test_supervised import python, run

from assay.process.spec import CompanionSpec

BURN = "import os, resource, sys, time\n"
BURN += "def burn(s):\n    end = time.process_time() + s\n    while time.process_time() < end: pass\n"


def bare_s() -> float:
    begun = time.monotonic()
    os.wait4(os.posix_spawn("/bin/true", ["true"], dict(os.environ), setsid=True), 0)
    return time.monotonic() - begun


def test_the_time_of_a_program_is_that_of_starting_and_reaping_it(tmp_path: Path) -> None:
    results, bare = [], []
    for _ in range(15):
        results.append(run(tmp_path, ["true"]))
        bare.append(bare_s())
    assert min(one.exec_time_s for one in results) < 3.5 * min(bare)
    assert all(one.usage["wall_s"] == one.exec_time_s for one in results)


def test_the_cpu_of_a_short_program_has_no_copy_of_the_supervisor_in_it(tmp_path: Path) -> None:
    used = [os.wait4(os.posix_spawn("/bin/true", ["true"], dict(os.environ)), 0)[2] for _ in range(15)]
    ours = min(run(tmp_path, ["true"]).usage["cpu_s"] for _ in range(15))
    assert ours < 2 * min(one.ru_utime + one.ru_stime for one in used)


def test_cpu_time_is_what_the_program_says_of_itself(tmp_path: Path) -> None:
    code = f"{BURN}burn(0.5)\nused = resource.getrusage(resource.RUSAGE_SELF)\n"
    usage = run(tmp_path, python(f"{code}os.write(1, str(used.ru_utime + used.ru_stime).encode()); os._exit(0)")).usage
    assert usage["cpu_s"] == pytest.approx(float((tmp_path / "stdout").read_text()), rel=0.02)
    assert usage["cpu_s"] == pytest.approx(usage["cpu_user_s"] + usage["cpu_system_s"])


def test_time_is_the_programs_own_and_usage_goes_on_to_the_last_it_left_behind(tmp_path: Path) -> None:
    survivor = f"{BURN}import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.write(1, b'!'); burn(0.4)"
    parent = f"""
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {survivor!r}], stdout=subprocess.PIPE)
child.stdout.read(1)
os._exit(0)
"""
    result = run(tmp_path, python(parent))
    assert result.left_behind == 1
    assert result.usage["cpu_s"] > 0.4
    assert result.usage["wall_s"] > result.exec_time_s + 0.3


def test_what_a_companion_takes_to_start_and_to_stop_is_not_the_programs(tmp_path: Path) -> None:
    service = f"""{BURN}
import signal
def stop(*_): burn(0.6); os._exit(0)
signal.signal(signal.SIGTERM, stop)
burn(0.6)
print("UP", flush=True)
time.sleep(60)
"""
    companion = CompanionSpec("service", python(service), dict(os.environ), tmp_path, tmp_path / "log", ready="UP")
    result = run(tmp_path, ["true"], companion=companion)
    assert result.companion_s > 0.5
    assert result.usage["cpu_s"] < 0.3
    assert result.usage["wall_s"] == result.exec_time_s


def test_what_a_companion_does_for_the_program_is_counted(tmp_path: Path) -> None:
    service = f"""{BURN}
print("UP", flush=True)
while not os.path.exists("go"): time.sleep(0.01)
burn(0.5)
open("done", "w").write("1")
time.sleep(60)
"""
    companion = CompanionSpec("service", python(service), dict(os.environ), tmp_path, tmp_path / "log", ready="UP")
    program = ["sh", "-c", "touch go; while ! test -e done; do sleep 0.05; done"]
    assert run(tmp_path, program, companion=companion).usage["cpu_s"] > 0.45


def test_the_memory_of_a_small_program_is_its_own(tmp_path: Path) -> None:
    usage = run(tmp_path, ["sleep", "0.3"]).usage
    assert 0 < usage["peak_rss_mb"] < 5


def test_the_memory_of_a_large_program_is_seen_between_samples(tmp_path: Path) -> None:
    code = "import os; x = b'x' * (80 << 20); del x; os._exit(0)"
    assert run(tmp_path, python(code), sample_hz=0.01).usage["peak_rss_mb"] > 80


def test_a_program_is_started_with_the_signals_that_a_shell_would_give_it(tmp_path: Path) -> None:
    run(tmp_path, ["sh", "-c", "yes | head -n 1"])
    assert (tmp_path / "stdout").read_text() == "y\n"
    assert (tmp_path / "stderr").read_text() == ""


def test_niceness_and_processors_are_the_programs_alone(tmp_path: Path) -> None:
    show = "import os; p = os.getppid(); print(os.nice(0), sorted(os.sched_getaffinity(0)), os.getpriority(0, p))"
    run(tmp_path, python(show), nice=5, cpus=[0])
    assert (tmp_path / "stdout").read_text() == "5 [0] 0\n"


def test_why_a_program_cannot_be_started_names_what_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "locked").write_text("#!/bin/sh\n")
    assert run(tmp_path, ["./locked"]).failure == "cannot start ./locked: Permission denied"
    result = run(tmp_path, ["./locked"], nice=5)
    assert result.failure == "cannot start ./locked: Permission denied"
