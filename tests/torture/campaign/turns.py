from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

from campaign.finding_files import FindingFile
from campaign.kinds import KINDS

PATIENCE = 4.0
"""Times what a kind says a case takes at most, on a machine that does other things as well."""


HITS = ("kills", "stops", "interrupts")
SHOWN_EVERY_S = 600.0
"""How often the counts are shown meanwhile."""


class Turns:
    """Kinds one after the other, in turns of a few seconds, whoever has had least of its share first."""

    def __init__(self, names: list[str], seed: int, seconds: float, turn: float | None, hits: int | None) -> None:
        self._names = names
        self._seed = seed
        self._until = time.monotonic() + seconds
        self._turn = turn or min(20.0, max(2.0, seconds / 20))
        self._hits = hits
        self._spent: dict[str, float] = dict.fromkeys(names, 0.0)
        self._number = 0
        self.tried: dict[str, Counter[str]] = defaultdict(Counter)
        self.findings: dict[Path, int] = {}

    def run(self) -> None:
        shown = time.monotonic()
        while (left := self._until - time.monotonic()) > 0 and not self._is_enough():
            name = min(self._names, key=lambda name: self._spent[name] / KINDS[name].share)
            begun = time.monotonic()
            self._take(name, min(self._turn, left))
            self._spent[name] += time.monotonic() - begun
            if time.monotonic() - shown > SHOWN_EVERY_S:
                print(self.table(), flush=True)
                shown = time.monotonic()

    def table(self) -> str:
        lines = [f"{'kind':14} {'cases':>7} {'seconds':>8}  tried"]
        for name in self._names:
            tried = self.tried[name]
            words = ", ".join(f"{count:,} {what}" for what, count in sorted(tried.items()) if what != "cases")
            lines.append(f"{name:14} {tried['cases']:7,} {self._spent[name]:8.0f}  {words}")
        lines.append(f"{sum(tried['cases'] for tried in self.tried.values()):,} cases, {len(self.findings)} findings")
        lines += [f"  {path} (met {count} times)" for path, count in self.findings.items()]
        return "\n".join(lines)

    def _is_enough(self) -> bool:
        hits = sum(n for tried in self.tried.values() for what, n in tried.items() if what.startswith(HITS))
        return self._hits is not None and hits >= self._hits

    def _take(self, name: str, seconds: float) -> None:
        self._number += 1
        seed = f"{self._seed}.{self._number}"
        root = Path(tempfile.mkdtemp(prefix="assay-torture-"))
        words = [sys.executable, "-m", "campaign.worker", name, seed, str(seconds), str(root)]
        environment = {**os.environ, "XDG_STATE_HOME": str(root / "state"), "TMPDIR": str(root), "COLUMNS": "200"}
        errors = (root / "errors").open("w+b")
        worker = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL, env=environment,
            start_new_session=True,
        )  # fmt: skip
        try:
            why = self._hear(name, worker, KINDS[name].seconds * PATIENCE)
            if why:
                errors.seek(0)
                said = errors.read().decode(errors="replace")[-2000:]
                self._keep(name, f"{why}\n{said}", json.loads((root / "case.json").read_text()))
        finally:
            if worker.poll() is None:
                os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
            errors.close()
            subprocess.run(
                ["sh", "-c", 'grep " $1" /proc/mounts | cut -d" " -f2 | xargs -r umount -l', "-", str(root)],
                check=False,
            )
            shutil.rmtree(root, ignore_errors=True)
        print(f"  {seed} {name}: {self.tried[name]['cases']:,} cases so far", file=sys.stderr, flush=True)

    def _hear(self, name: str, worker: subprocess.Popen[bytes], patience_s: float) -> str | None:
        """Why the worker ended other than it should; nothing if it did."""
        assert worker.stdout is not None
        heard = b""
        while True:
            if not select.select([worker.stdout], [], [], 60 + patience_s)[0]:
                return f"no answer within {patience_s:.0f} s"
            piece = os.read(worker.stdout.fileno(), 1 << 20)
            if not piece:
                code = worker.wait()
                return f"the process that tried it ended with code {code}" if code else None
            *lines, heard = (heard + piece).split(b"\n")
            for line in lines:
                told = json.loads(line)
                self.tried[name].update(told["tried"])
                self.tried[name]["cases"] += 1
                for found in told["found"]:
                    self._keep(name, found, told["case"])

    def _keep(self, name: str, found: str, case: dict[str, object]) -> None:
        path = FindingFile(name, found, case).write()
        if path not in self.findings:
            print(f"FOUND by {name}: {found}\n  written to {path}", flush=True)
        self.findings[path] = self.findings.get(path, 0) + 1
