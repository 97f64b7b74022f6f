"""How long a run's threads waited for a processor, and what the machine stood still for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_supervised import python, run

from assay.process.sampler import PRESSURES, RunQueue, read_pressure_s
from assay.record import Usage

CPU = min(os.sched_getaffinity(0))
HERE = f"import os\nos.sched_setaffinity(0, {{{CPU}}})\n"
BURN = "import time\ndef burn(s):\n    end = time.process_time() + s\n    while time.process_time() < end: pass\n"


@pytest.fixture
def burner() -> Iterator[None]:
    """Another process on the same processor."""
    other = subprocess.Popen([sys.executable, "-c", f"{HERE}print(flush=True)\nwhile True: pass"], stdout=-1)
    assert other.stdout
    other.stdout.readline()
    try:
        yield
    finally:
        other.send_signal(signal.SIGKILL)
        other.wait()
        other.stdout.close()


def test_waiting_for_a_processor_is_what_a_busy_program_lost(tmp_path: Path, burner: None) -> None:
    usage = run(tmp_path, python(f"{HERE}{BURN}burn(0.5)")).usage
    assert usage["run_queue_s"] > 0.3 * usage["cpu_s"], "it shared its processor with another"
    assert usage["cpu_s"] + usage["run_queue_s"] == pytest.approx(usage["wall_s"], rel=0.1)
    assert usage["cores"] == os.cpu_count()


def test_every_thread_and_child_is_counted(tmp_path: Path) -> None:
    """Three that share one processor wait for each other: together twice as long as they run."""
    threads = "import hashlib, threading\ndef work():\n    for _ in range(60): hashlib.sha256(bytes(4_000_000))\n"
    threads += "    time.sleep(0.5)\n"
    threads += "ts = [threading.Thread(target=work) for _ in range(3)]\n[t.start() for t in ts]; [t.join() for t in ts]"
    work = "(burn(0.4), time.sleep(0.5), os._exit(0))"
    children = f"ps = [os.fork() or {work} for _ in range(3)]\n[os.waitpid(p, 0) for p in ps]"
    for code in (threads, children):
        usage = run(tmp_path, python(f"{HERE}{BURN}{code}")).usage
        assert usage["run_queue_s"] > 1.2 * usage["cpu_s"]


def test_what_ran_unseen_leaves_the_wait_unknown() -> None:
    queue = RunQueue(set())
    queue.read(os.getpid())
    assert queue.waited_s(cpu_s=1e9) is None
    assert queue.waited_s(cpu_s=0.0) is not None


def test_what_the_kernel_does_not_tell_is_left_out_not_zero(tmp_path: Path) -> None:
    assert read_pressure_s("nothing") is None
    usage = run(tmp_path, ["true"]).usage
    there = {f"pressure_{what}_s" for what in PRESSURES if Path("/proc/pressure", what).exists()}
    assert {name for name in usage if name.startswith("pressure_")} == there
    assert all(usage[name] >= 0 for name in there)
    assert not {name for name in Usage().to_json() if name.startswith(("pressure_", "run_queue"))}
    assert Usage.from_json(Usage(run_queue_s=0.5, cores=4).to_json()) == Usage(run_queue_s=0.5, cores=4)
