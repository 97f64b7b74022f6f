"""Whether a job's process lives. On this machine the kernel is asked; of another one its heartbeat tells.

Heartbeats are times of the file server: they are held against a file written there now, since hosts' clocks differ.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from assay.record.joined.job import Job
from assay.untrusted.writing import touch

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
