"""Whether a job's process lives. On this machine the kernel is asked; of another one its heartbeat tells.

Heartbeats are times of the file server: they are held against a file written there now, since hosts' clocks differ.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from assay.files.reading import SESSION, read_text
from assay.files.writing import create_exclusive, touch

if TYPE_CHECKING:
    from assay.record.jobs import Job


BEAT_S = 10.0
DEAD_AFTER_S = 60.0
"""Seconds without a heartbeat after which a job on another host counts as dead."""


class Heartbeat:
    """Touches a file while the process lives. A file system that fails for a while costs beats, nothing else."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._touch()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(BEAT_S):
            self._touch()

    def _touch(self) -> None:
        try:
            touch(self._path)
        except OSError:
            return


def is_alive(job: Job, beat: Path) -> bool:
    here = place()
    if here and job.place == here:
        return start_ticks(job.pid) == job.ticks
    try:
        return _now(beat.parent) - beat.stat().st_mtime < DEAD_AFTER_S
    except FileNotFoundError:
        return False


def place() -> str:
    """Boot of this machine and process namespace; empty where the system does not tell: then only heartbeats count."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def start_ticks(pid: int) -> int:
    """Start time of a running process, in clock ticks since boot; 0 if it does not run or is a zombie."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if words[0] in "ZX" else int(words[19])


def _now(folder: Path) -> float:
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".now-") as file:
            return os.fstat(file.fileno()).st_mtime
    except OSError:
        return time.time()


_WRITTEN_WITHIN_S = 2.0


class Claims:
    """Who runs what: files `<name>.1`, `<name>.2` …, each made by one process alone; the highest number holds.

    Nothing is ever deleted. Who finds a holder dead makes the next number, which only one process can, so that nobody
    takes a claim away from somebody who has just taken it over.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def holder(self, name: str) -> str | None:
        number = self._highest(name)
        return self._read(name, number) if number else None

    def take(self, name: str, job: str, may_replace: Callable[[str], bool]) -> str:
        """Who holds it now: `job` if nobody did, or if the holder may be replaced."""
        self._folder.mkdir(parents=True, exist_ok=True)
        while True:
            number = self._highest(name)
            holder = self._read(name, number) if number else None
            if holder is not None and (holder == job or not may_replace(holder)):
                return holder
            if create_exclusive(self._path(name, number + 1), job):
                return job

    def _highest(self, name: str) -> int:
        try:
            names = [path.name for path in self._folder.iterdir()]
        except FileNotFoundError:
            return 0
        split = (found.rpartition(".") for found in names)
        return max((int(number) for start, _, number in split if start == name and number.isdigit()), default=0)

    def _read(self, name: str, number: int) -> str:
        """Who made a claim. Empty only where there are no hard links: its writer has just made it, or was killed
        then."""
        deadline = time.monotonic() + _WRITTEN_WITHIN_S
        while True:
            text = read_text(self._path(name, number), SESSION).strip()
            if text or time.monotonic() > deadline:
                return text
            time.sleep(0.05)

    def _path(self, name: str, number: int) -> Path:
        return self._folder / f"{name}.{number}"
