from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path

from assay.weights.bytes_on_disk import bytes_on_disk
from assay.weights.peers.safetensors_store import SafetensorsStore
from assay.weights.store import StoreStats, Tensor

FILE = "model.safetensors"


class VersionedFileStore(SafetensorsStore):
    """A tool that keeps versions of files, used as people use it: the model is one safetensors file.

    The file is written and read as part of every commit and checkout, and is there only meanwhile: what remains in the
    store's folder is what the tool keeps.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._versions = 0

    @property
    def file(self) -> Path:
        return self.path / FILE

    @abstractmethod
    def keep(self, message: str) -> str:
        """The file as it stands becomes a version; returns the name to `fetch` it by."""

    @abstractmethod
    def fetch(self, ref: str) -> None:
        """The file is there again as it was."""

    def commit(self, tensors: Mapping[str, Tensor] | None = None, message: str = "") -> str:
        version = {**self._staged, **(tensors or {})}
        self._staged = {}
        try:
            self.write(self.file, version)
            ref = self.keep(message or "version")
        finally:
            self.file.unlink(missing_ok=True)
        self._logical += sum(tensor.nbytes for tensor in version.values())
        self._tensors += len(version)
        self._versions += 1
        return ref

    def load(self, ref: str, names: Iterable[str] | None = None) -> dict[str, Tensor]:
        try:
            self.fetch(ref)
            return self.read(self.file, names)
        finally:
            self.file.unlink(missing_ok=True)

    def stats(self) -> StoreStats:
        stored = bytes_on_disk(self.path)
        return StoreStats(self._logical, stored, self._versions, self._tensors, self._tensors, deltas=0, dedup_hits=0)

    def cpu_seconds(self) -> float:
        """This process and the programs it has started and waited for."""
        spent = os.times()
        return spent.user + spent.system + spent.children_user + spent.children_system
