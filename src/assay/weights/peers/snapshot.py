from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from assay.errors import DataError
from assay.weights.store import StoreStats, Tensor


class SnapshotStore(ABC):
    """A format without versions used as people use it: one whole file a version.

    Nothing is shared between versions, so exact duplicates are stored again. Bytes are counted from the files
    themselves.
    """

    suffix: ClassVar[str]

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self._staged: dict[str, Tensor] = {}
        self._logical = 0
        self._tensors = 0

    @abstractmethod
    def write(self, file: Path, tensors: Mapping[str, Tensor]) -> None: ...

    @abstractmethod
    def read(self, file: Path, names: Iterable[str] | None) -> dict[str, Tensor]: ...

    def save(self, name: str, tensor: Tensor) -> None:
        self._staged[name] = tensor

    def commit(self, tensors: Mapping[str, Tensor] | None = None, message: str = "") -> str:
        version = {**self._staged, **(tensors or {})}
        self._staged = {}
        ref = f"v{len(self._files()) + 1:05d}"
        file = self._file(ref)
        unfinished = file.with_suffix(".part")
        self.write(unfinished, version)
        unfinished.rename(file)
        self._logical += sum(tensor.nbytes for tensor in version.values())
        self._tensors += len(version)
        return ref

    def load(self, ref: str, names: Iterable[str] | None = None) -> dict[str, Tensor]:
        file = self._file(ref)
        if not file.exists():
            raise DataError(f"{self.path}: no version {ref!r}")
        return self.read(file, names)

    def stats(self) -> StoreStats:
        files = self._files()
        stored = sum(file.stat().st_size for file in files)
        return StoreStats(self._logical, stored, len(files), self._tensors, self._tensors, deltas=0, dedup_hits=0)

    def _file(self, ref: str) -> Path:
        if not re.fullmatch(r"v\d{5,}", ref):
            raise DataError(f"{self.path}: {ref!r} is not the name of a version")
        return self.path / f"{ref}{self.suffix}"

    def _files(self) -> list[Path]:
        return sorted(self.path.glob(f"v*{self.suffix}"))
