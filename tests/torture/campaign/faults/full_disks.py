"""A disk that fills up and is freed again at random moments of a session; then the session is resumed."""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections import Counter
from pathlib import Path

from campaign.faults.victim import LIMIT_S, Dashboard, Victim, wait_until
from campaign.kind import Case, Trial


class FullDisks:
    name, share, seconds = "disks", 1.5, 300.0

    def draw(self, rng: random.Random) -> Case:
        return {"seed": rng.randrange(2**32), "hits": rng.randrange(3, 8)}

    def attempt(self, case: Case, folder: Path) -> Trial:
        if os.geteuid() != 0:
            return Trial(Counter({"left out: a disk can only be mounted by root": 1}))
        disk, rng = folder / "disk", random.Random(case["seed"])
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk)], check=True)
        try:
            return self._attempt(case, folder, disk, rng)
        finally:
            subprocess.run(["umount", "--lazy", str(disk)], check=True)

    def _attempt(self, case: Case, folder: Path, disk: Path, rng: random.Random) -> Trial:
        victim = Victim(folder, disk / "results", entries=6, suite=False)
        filler = disk / "filler"
        with Dashboard(victim) as dashboard:
            running, hits = victim.go_on(), 0
            while hits < case["hits"]:
                time.sleep(rng.uniform(0, 1.2))
                _fill(filler, left=rng.choice((0, 0, 0, 4096, 65536)))
                time.sleep(rng.uniform(0, 0.8))
                filler.unlink()
                hits += 1
                if running.poll() is not None:
                    victim.remember()
                    running = victim.go_on()
            if not wait_until(lambda: running.poll() is not None, LIMIT_S):
                victim.trial.found.append("hangs: the session did not end after the disk was free again")
                running.kill()
                running.wait()
            victim.remember()
            victim.finish()
        victim.trial.tried.update(dashboard.answers)
        victim.trial.tried["times the disk was full"] += hits
        victim.check()
        victim.close()
        return victim.trial


def _fill(path: Path, left: int) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(65536))
        except OSError:
            pass
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            file.truncate(max(0, file.tell() - left))
