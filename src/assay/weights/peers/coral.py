from __future__ import annotations

import atexit
import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import DataError, UsageError
from assay.weights.element_types import ELEMENT_TYPES, bits_of
from assay.weights.repository_disk import bytes_on_disk
from assay.weights.store import StoreStats, Tensor

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


class CoralStore:
    """coral-ml 1.0 in a process of its own: what it answers is passed on as it is, right or wrong.

    `cpu_seconds` is what coral's own calls have used; handing tensors over to its process is not in it.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self._staged: dict[str, Tensor] = {}
        self._cpu = 0.0
        self._counts = [0, 0, 0]
        self._process = coral_process()

    def save(self, name: str, tensor: Tensor) -> None:
        self._staged[name] = tensor

    def commit(self, tensors: Mapping[str, Tensor] | None = None, message: str = "") -> str:
        version = {**self._staged, **(tensors or {})}
        self._staged = {}
        file = Path(self._process.exchange.name) / "in"
        table = []
        with file.open("wb") as out:
            for name, tensor in version.items():
                table.append([name, tensor.dtype.name, list(tensor.shape), out.tell(), tensor.nbytes])
                out.write(bits_of(tensor).tobytes())
        reply = self._ask({"do": "commit", "table": table, "file": str(file), "message": message})
        logical = sum(tensor.nbytes for tensor in version.values())
        self._counts = [old + new for old, new in zip(self._counts, (logical, 1, len(version)), strict=True)]
        return str(reply["ref"])

    def load(self, ref: str, names: Iterable[str] | None = None) -> dict[str, Tensor]:
        file = Path(self._process.exchange.name) / "out"
        wanted = None if names is None else list(names)
        reply = self._ask({"do": "load", "ref": ref, "names": wanted, "file": str(file)})
        raw = np.fromfile(file, np.uint8) if file.stat().st_size else np.empty(0, np.uint8)
        found: dict[str, Tensor] = {}
        for name, dtype, shape, offset, size in reply["table"]:
            # It gives bfloat16 back as two nameless bytes; that stays visible as a wrong dtype.
            kind = ELEMENT_TYPES[dtype].numpy if dtype in ELEMENT_TYPES else np.dtype(f"V{int(dtype[4:]) // 8}")
            found[name] = raw[offset : offset + size].view(kind).reshape(shape)
        return found

    def stats(self) -> StoreStats:
        stored = bytes_on_disk(self.path)
        logical, versions, tensors = self._counts
        return StoreStats(logical, stored, versions, tensors, tensors, deltas=0, dedup_hits=0)

    def cpu_seconds(self) -> float:
        return self._cpu

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        if self._process.alive:
            self._process.ask({"do": "close", "path": str(self.path)})

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        reply = self._process.ask({"path": str(self.path), **request})
        self._cpu += reply["cpu_s"]
        return reply
