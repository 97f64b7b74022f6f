from __future__ import annotations

import atexit
import json
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from assay.errors import DataError, UsageError

WORKER = Path(__file__).with_name("coral_worker.py")


def coral_python() -> Path | None:
    """The interpreter of the environment that `make peers-weights` puts coral-ml into."""
    python = Path(os.environ.get("ASSAY_PEERS_DIR", ".peers")) / "coral" / "bin" / "python"
    return python.absolute() if python.exists() else None


class CoralProcess:
    """One process for all of coral's repositories that this process opens; it ends with this one."""

    def __init__(self, python: Path) -> None:
        shared = Path("/dev/shm")
        folder = str(shared) if shared.is_dir() and os.access(shared, os.W_OK) else None
        self.exchange = tempfile.TemporaryDirectory(prefix="assay-coral-", dir=folder)
        self._process = subprocess.Popen(
            [str(python), str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        )
        self._reply()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise DataError("coral-ml: its process has ended") from None
        reply = self._reply()
        if "error" in reply:
            raise DataError(f"coral-ml: {reply['error']}")
        return reply

    def end(self) -> None:
        if self._process.stdin and self._process.stdout:
            self._process.stdin.close()
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process.stdout.close()
        self.exchange.cleanup()

    def _reply(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise DataError(f"coral-ml: its process ended with code {self._process.wait()}")
        reply: dict[str, Any] = json.loads(line)
        return reply


def coral_process() -> CoralProcess:
    process = _start()
    if not process.alive:
        _start.cache_clear()
        process = _start()
    return process


@cache
def _start() -> CoralProcess:
    python = coral_python()
    if python is None:
        raise UsageError("coral-ml is not installed in .peers/coral; `make peers-weights` installs it there")
    process = CoralProcess(python)
    atexit.register(process.end)
    return process
