"""One command: CPU time of all its processes, and what the null server saw of it."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.loadgen.http.server import ScriptedServer, null_replies

_PR_SET_CHILD_SUBREAPER = 36
_LOG_ROOM = 4_000_000
_LONGEST_S = 1200


class CommandFailed(Exception):
    """It ended with another status than 0, sent nothing, or took too long; the message has its last words."""


@dataclass(frozen=True)
class Measured:
    cpu_s: float
    """CPU seconds of all processes, from the first request that reached the server to the end of the last process."""
    first_request_s: float
    """Seconds from the start of the command to the first request that reached the server."""
    rate: float
    """Requests a second in the middle eight tenths of the run, by the server's log."""


def adopt_orphans() -> None:
    """Processes that a command leaves behind become ours, so that their CPU time is counted when they end."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def measure(
    command: list[str], url_place: str, tokens: int, gap_s: float, environment: dict[str, str], out: Path
) -> Measured:
    """Run `command`, in which `url_place` stands for the server's URL, in the folder `out`."""
    out.mkdir(parents=True, exist_ok=True)
    cores = sorted(os.sched_getaffinity(0))
    with ScriptedServer(null_replies(tokens, gap_s), log_room=_LOG_ROOM) as server:
        os.sched_setaffinity(server.pid, {cores[-1]})
        port = str(server.port)
        # The same core for every client: what one core can do is asked.
        words = ["taskset", "-c", str(cores[0]), *(word.replace(url_place, port) for word in command)]
        started = time.monotonic_ns()
        process = subprocess.Popen(
            words,
            cwd=out,
            env={**os.environ, **environment},
            stdout=(out / "output.log").open("wb"),
            stderr=subprocess.STDOUT,
        )
        try:
            before = _cpu_at_first_request(server, process)
            status = process.wait(_LONGEST_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise CommandFailed(f"not over after {_LONGEST_S} s{_last_words(out)}") from None
        finally:
            _reap_orphans(server.pid)
        cpu = _children_cpu() - before
        log = server.log()
    if status:
        raise CommandFailed(f"ended with {status}{_last_words(out)}")
    came = np.sort(log["ns"][log["piece"] == -1])
    if not len(came):
        raise CommandFailed(f"sent no request{_last_words(out)}")
    low, high = int(0.1 * len(came)), int(0.9 * len(came)) - 1
    rate = (high - low) / max((came[high] - came[low]) / 1e9, 1e-9)
    return Measured(cpu, (int(came[0]) - started) / 1e9, rate)


def _last_words(out: Path) -> str:
    said = (out / "output.log").read_text(errors="replace").strip().splitlines()
    return f": {said[-1][:300]} ({out / 'output.log'})" if said else ""


def _cpu_at_first_request(server: ScriptedServer, process: subprocess.Popen[bytes]) -> float:
    """CPU of all children so far, when the first request comes: what lies before it is start-up."""
    before = _children_cpu()
    limit = time.monotonic() + _LONGEST_S
    while not len(server.log()) and process.poll() is None and time.monotonic() < limit:
        time.sleep(0.002)
    return before + sum(_cpu_so_far(pid) for pid in _descendants(os.getpid()) if pid != server.pid)


def _cpu_so_far(pid: int) -> float:
    """CPU of a process and of its children that have ended."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")


def _descendants(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in task.read_text().split()]
        except OSError:
            continue
        found += [one for child in children for one in (child, *_descendants(child))]
    return found


def _reap_orphans(keep: int) -> None:
    """Wait for what the command left running. The server is a child too and goes on."""
    limit = time.monotonic() + 10
    while time.monotonic() < limit:
        others = [pid for pid in _children() if pid != keep]
        if not others:
            return
        for pid in others:
            os.waitpid(pid, os.WNOHANG)
        time.sleep(0.02)


def _children() -> list[int]:
    return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
