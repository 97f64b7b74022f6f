"""Random kills, stops and interrupts of every process of a session; then it is resumed."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path

from assay.process.leftovers import SESSION, find_started_for, read_start_environment
from campaign.faults.victim import LIMIT_S, Dashboard, Victim, wait_until
from campaign.kind import Case, Trial


class Kills:
    name, share, seconds = "kills", 4.0, 400.0

    def draw(self, rng: random.Random) -> Case:
        return {"seed": rng.randrange(2**32), "hits": rng.randrange(10, 25)}

    def attempt(self, case: Case, folder: Path) -> Trial:
        victim = Victim(folder, folder / "results", suite=case.get("suite", True))
        rng = random.Random(case["seed"])
        with Dashboard(victim) as dashboard:
            hits = case["hits"]
            while hits > 0:
                hits -= self._disturb(victim, dashboard, rng, hits)
            victim.finish()
        victim.trial.tried.update(dashboard.answers)
        victim.check()
        self._check_left(victim)
        victim.close()
        return victim.trial

    def _disturb(self, victim: Victim, dashboard: Dashboard, rng: random.Random, most: int) -> int:
        """Runs or resumes the session and hits until it ends; how often."""
        running = victim.go_on()
        hits, until = 0, time.monotonic() + LIMIT_S
        time.sleep(rng.uniform(0, 0.3) if rng.random() < 0.2 else rng.uniform(0.3, 1.5))
        while running.poll() is None and hits < most:
            hits += _hit(victim, running.pid, dashboard, rng)
            time.sleep(rng.choice((rng.uniform(0, 0.1), rng.uniform(0.05, 0.6))))
            if time.monotonic() > until:
                break
        if not wait_until(lambda: running.poll() is not None, LIMIT_S):
            victim.trial.found.append(f"hangs: the session did not end within {LIMIT_S:.0f} s after the last hit")
            running.kill()
            running.wait()
        victim.remember()
        return max(hits, 1)

    def _check_left(self, victim: Victim) -> None:
        session = str(victim.session.path.resolve()) if victim.session else "?"
        if not wait_until(lambda: not find_started_for(SESSION, session), 30):
            left = [_words(pid) for pid in find_started_for(SESSION, session)]
            victim.trial.found.append(f"left running: {left}")


def _hit(victim: Victim, main: int, dashboard: Dashboard, rng: random.Random) -> int:
    session = victim.session
    processes = sorted(find_started_for(SESSION, str(session.path.resolve()))) if session else []
    draw = rng.random()
    if draw < 0.04 and dashboard.process is not None:
        dashboard.process.kill()
        dashboard.process.wait()
        dashboard.begin()
        victim.trial.tried["kills of the dashboard"] += 1
        return 1
    if not processes and draw < 0.9:
        return 0  # Most of the time there is more to hit than one that has only just begun.
    pid = main if draw < 0.25 or not processes else rng.choice(processes)
    role = "assay" if pid == main else _role(pid)
    how = rng.random()
    try:
        if how < 0.45:
            os.kill(pid, signal.SIGKILL)
            victim.trial.tried[f"kills of {role}"] += 1
        elif how < 0.9 or pid != main:
            os.kill(pid, signal.SIGSTOP)
            threading.Timer(rng.uniform(0.05, 1.5), _let_go_on, (pid,)).start()
            victim.trial.tried[f"stops of {role}"] += 1
        else:
            os.kill(pid, rng.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)))
            victim.trial.tried["interrupts"] += 1
    except ProcessLookupError:
        return 0
    return 1


def _let_go_on(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        pass


def _role(pid: int) -> str:
    words = _words(pid)
    if "assay.sinks" in words:
        return "delivery"
    if "results_apart" in words:
        return "the reader of results"
    return (
        "programs" if b"ASSAY_RUN_ID" in read_start_environment(pid) and "assay.process" not in words else "supervisors"
    )


def _words(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return "?"
