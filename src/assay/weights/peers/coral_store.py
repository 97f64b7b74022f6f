from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from assay.weights.bytes_on_disk import bytes_on_disk
from assay.weights.dtype import ELEMENT_TYPES, bits_of
from assay.weights.peers.coral_process import coral_process
from assay.weights.store import StoreStats, Tensor


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
