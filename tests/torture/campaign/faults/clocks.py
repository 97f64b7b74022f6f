"""Clocks of the day that jump while sessions run, by hours, years and past 2038 and 1970; files keep the real time."""

from __future__ import annotations

import random
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path

from readings import session_readings, tried

from campaign.faults.victim import LIMIT_S, Victim
from campaign.kind import Case, Trial

JUMPS = (-3600, 3600, -86400, 86400, -1, 5, 366 * 86400, -10 * 366 * 86400, 2**31, -1_700_000_000, -1_790_000_000)
"""Seconds."""


class Clocks:
    name, share, seconds = "clocks", 1.0, 200.0

    def draw(self, rng: random.Random) -> Case:
        return {"jumps": [rng.choice(JUMPS) for _ in range(rng.randrange(2, 8))], "every_s": rng.uniform(0.1, 0.6)}

    def attempt(self, case: Case, folder: Path) -> Trial:
        victim = Victim(folder, folder / "results", entries=4, suite=False, seconds=0.3)
        offset = folder / "offset"
        offset.write_bytes(bytes(8))
        victim.place.environment |= {"LD_PRELOAD": str(_library()), "CLOCK_OFFSET_FILE": str(offset)}
        running = victim.go_on()
        for number, seconds in enumerate(case["jumps"]):
            time.sleep(case["every_s"])
            with offset.open("r+b", buffering=0) as file:
                file.write(seconds.to_bytes(8, "little", signed=True))
            if number == 3:
                running.kill()
            if running.poll() is not None:
                running.wait()
                victim.remember()
                running = victim.go_on()
        try:
            running.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            running.kill()
            victim.trial.found.append("hangs: the session did not end after the clock jumped")
        victim.remember()
        victim.finish()
        victim.check()
        self._check_times(victim)
        victim.trial.tried["jumps"] += len(case["jumps"])
        victim.close()
        return victim.trial

    def _check_times(self, victim: Victim) -> None:
        session = victim.session
        if session is None:
            return
        for record in session.records():
            if not 0 <= record.exec_time_s < LIMIT_S:
                victim.trial.found.append(f"{record.run_id} took {record.exec_time_s} s by a clock that jumped")
        name = session.path.name
        for reading, command in session_readings(victim.results, name, name, "e0").items():
            found = tried(reading, command)
            victim.trial.found += [str(found)] if found else []


@cache
def _library() -> Path:
    source = Path(__file__).with_name("clock.c")

    made = Path(tempfile.mkdtemp()) / "clock.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(made), str(source)], check=True)
    return made
