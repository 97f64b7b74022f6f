from __future__ import annotations

import csv
import fcntl
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self

from assay.errors import MissingExtra
from assay.files.writing import create, open_new
from assay.process.gpus import GpuReading, Gpus, NoGpu
from assay.process.leftovers import SESSION, find_started_for, read_start_environment
from assay.process.unkillable import GIVE_UP_S


def gpu_memory_warnings(threshold: float | None, when: Literal["before", "after"]) -> list[str]:
    """Warnings, one for each GPU that has more of its memory in use than the share `threshold`; None asks for none."""
    if threshold is None:
        return []
    try:
        with Gpus() as gpus:
            readings = gpus.readings()
    except NoGpu:
        return []  # `preflight` says so once, for all entries
    busy = [reading for reading in readings if reading.memory_share is not None and reading.memory_share > threshold]
    return [_warning(reading, threshold, when) for reading in busy]


def _warning(reading: GpuReading, threshold: float, when: Literal["before", "after"]) -> str:
    used = f"{reading.memory_used_mb:.0f} of {reading.memory_total_mb:.0f} MB"
    verb = "was in use before the run" if when == "before" else "was still in use after the run"
    return (
        f"GPU {reading.gpu}: {reading.memory_share:.1%} of its memory ({used}) {verb}, "
        f"more than gpu_mem_use_warning_threshold {threshold:.1%}"
    )


COLUMNS = (
    "timestamp_utc",
    "gpu_id",
    "utilization_gpu_pct",
    "utilization_memory_pct",
    "temperature_c",
    "power_draw_w",
    "power_limit_w",
    "fan_speed_pct",
    "processes",
    "memory_used_mb",
    "memory_total_mb",
)
"""Columns of `gpustats.csv`; the first nine are those that other recorders of such a file have."""


class GpuSampler:
    """A row for every GPU each `interval_s` while a run goes on, the first at once."""

    def __init__(self, path: Path, interval_s: float) -> None:
        self._path = path
        self._interval_s = interval_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self.peak_memory_mb = 0.0
        self.problem = ""
        """Why rows are missing."""
        self._utilisation: list[float] = []

    @property
    def mean_utilisation(self) -> float:
        return sum(self._utilisation) / max(len(self._utilisation), 1)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(timeout=5)

    def _sample(self) -> None:
        try:
            with Gpus() as gpus, open_new(self._path, newline="") as out:
                rows = csv.writer(out)
                rows.writerow(COLUMNS)
                while True:
                    rows.writerows(map(self._row, gpus.readings()))
                    out.flush()
                    if self._stop.wait(self._interval_s):
                        return
        except (NoGpu, OSError) as error:
            self.problem = str(error)

    def _row(self, reading: GpuReading) -> list[Any]:
        self.peak_memory_mb = max(self.peak_memory_mb, reading.memory_used_mb or 0.0)
        if reading.utilisation_pct is not None:
            self._utilisation.append(reading.utilisation_pct)
        share = reading.memory_share
        return [
            datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            reading.gpu,
            _format(reading.utilisation_pct),
            _format(None if share is None else 100 * share),
            _format(reading.temperature_c),
            _format(reading.power_w),
            _format(reading.power_limit_w),
            _format(reading.fan_pct),
            json.dumps([asdict(process) for process in reading.processes], separators=(",", ":")),
            _format(reading.memory_used_mb),
            _format(reading.memory_total_mb),
        ]


def _format(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}" if value == int(value) else f"{value:.2f}"


def end_leftover_programs(session: Path) -> None:
    """Ends what still runs of runs of this session, whose Assay was killed: it would write into their next execution.

    Not the delivery to sinks, which goes on until all is delivered: it belongs to no run. Processes that Assay may not
    signal stay, and are not waited for.
    """
    until = time.monotonic() + GIVE_UP_S
    while time.monotonic() < until:
        pids = [
            pid
            for pid in find_started_for(SESSION, os.path.realpath(session))
            if b"ASSAY_RUN_ID" in read_start_environment(pid)
        ]
        pids = [pid for pid in pids if pid != os.getpid()]
        refused = [pid for pid in pids if not _may_kill(pid)]
        if len(refused) == len(pids):
            return
        time.sleep(0.02)


def _may_kill(pid: int) -> bool:
    """Sends SIGKILL; returns whether that is permitted."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # It has ended meanwhile.
    except PermissionError:
        return False
    return True


class Neighbours:
    """Sessions that run on this machine now, by a lock file each: a killed session's lock is free by itself."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.gettempdir()) / f"assay-running-{os.getuid()}"
        self._file: int | None = None

    def others(self) -> list[str]:
        found = []
        for path in sorted(self._folder.glob("*.lock")):
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except OSError:
                continue
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink(missing_ok=True)
            except BlockingIOError:
                found.append(os.read(descriptor, 4096).decode(errors="replace"))
            except OSError:
                continue
            finally:
                os.close(descriptor)
        return found

    def announce(self, session: str) -> None:
        """Tells others of this session. Where nothing can be written it tells nobody, and the session runs all the
        same."""
        path = self._folder / f"{os.getpid()}.lock"
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._file = create(path, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX)
            os.write(self._file, f"{session} (process {os.getpid()})".encode())

    def leave(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                (self._folder / f"{os.getpid()}.lock").unlink(missing_ok=True)
            os.close(self._file)
            self._file = None


class Profiler:
    """Puts a profiler in front of a Python program; its output is linked from the record."""

    def __init__(self, kind: str, artifacts: Path) -> None:
        self.kind = kind
        self._artifacts = artifacts

    def wrap(self, argv: list[str]) -> list[str]:
        if self.kind == "py-spy":
            return [_program("py-spy"), "record", "--subprocesses", "--output", str(self.output), "--", *argv]
        module = "cProfile" if self.kind == "cprofile" else "memray"
        if importlib.util.find_spec(module) is None:
            raise MissingExtra(module, "profile")
        run = ["cProfile", "-o", str(self.output)] if module == "cProfile" else ["memray", "run", "-o", str(self._raw)]
        interpreter, *program = argv
        return [interpreter, "-m", *run, *program]

    @property
    def output(self) -> Path:
        names = {"py-spy": "profile.svg", "cprofile": "profile.prof", "memray": "memray.html"}
        return self._artifacts / names[self.kind]

    def finish(self) -> Path | None:
        """What to show, once the run is over; None if the profiler left nothing."""
        if self.kind == "memray" and self._raw.is_file():
            command = [sys.executable, "-m", "memray", "flamegraph", "-f", "-o", str(self.output), str(self._raw)]
            subprocess.run(command, capture_output=True, check=False)
        return self.output if self.output.is_file() else None

    @property
    def _raw(self) -> Path:
        return self._artifacts / "memray.bin"


def _program(name: str) -> str:
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.is_file() else shutil.which(name)
    if found is None:
        raise MissingExtra(name, "profile")
    return found
