from __future__ import annotations

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from assay.errors import DataError
from assay.weights.element_types import ELEMENT_TYPES, bits_of, element_type
from assay.weights.repository_disk import bytes_on_disk
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


class Hdf5Store(SnapshotStore):
    """HDF5 knows no bfloat16 or float8 and changes NaN of none: every tensor goes in as its bits, with its dtype."""

    suffix = ".h5"

    def __init__(self, path: Path, compression: str = "gzip") -> None:
        super().__init__(path)
        self.compression = compression

    def write(self, file: Path, tensors: Mapping[str, Tensor]) -> None:
        import h5py

        with h5py.File(file, "w") as opened:
            for number, (name, tensor) in enumerate(tensors.items()):
                options: dict[str, Any] = {"compression": self.compression} if tensor.size else {}
                if options.get("compression") == "gzip":
                    options["compression_opts"] = 4
                data = opened.create_dataset(f"t{number}", data=bits_of(tensor), **options)
                data.attrs["name"] = name
                data.attrs["dtype"] = element_type(tensor.dtype).name
                data.attrs["shape"] = list(tensor.shape)

    def read(self, file: Path, names: Iterable[str] | None) -> dict[str, Tensor]:
        import h5py

        wanted = None if names is None else set(names)
        found = {}
        with h5py.File(file, "r") as opened:
            for data in opened.values():
                name = str(data.attrs["name"])
                if wanted is None or name in wanted:
                    kind = ELEMENT_TYPES[str(data.attrs["dtype"])].numpy
                    shape = tuple(int(size) for size in data.attrs["shape"])
                    found[name] = data[()].view(kind).reshape(shape)
        return found


NATIVE = frozenset(
    [
        *("float64", "float32", "float16", "complex64", "bool"),
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    ]
)
"""What the library's numpy side reads back; the others go in as their bits, and their names into the metadata."""


class SafetensorsStore(SnapshotStore):
    suffix = ".safetensors"

    def write(self, file: Path, tensors: Mapping[str, Tensor]) -> None:
        from safetensors.numpy import save_file

        plain: dict[str, Tensor] = {}
        views: dict[str, list[object]] = {}
        for name, tensor in tensors.items():
            if tensor.dtype.name in NATIVE and tensor.flags.c_contiguous:
                plain[name] = tensor
            elif tensor.dtype.name in NATIVE:
                plain[name] = np.ascontiguousarray(tensor).reshape(tensor.shape)
            else:
                plain[name] = bits_of(tensor)
                views[name] = [element_type(tensor.dtype).name, list(tensor.shape)]
        save_file(plain, file, metadata={"views": json.dumps(views)})

    def read(self, file: Path, names: Iterable[str] | None) -> dict[str, Tensor]:
        from safetensors import safe_open

        with safe_open(file, framework="np") as opened:
            views = json.loads((opened.metadata() or {}).get("views", "{}"))
            if names is None:
                found: dict[str, Tensor] = opened.get_tensors()
            else:
                found = {name: opened.get_tensor(name) for name in names}
        return restore_views(found, views)


def restore_views(found: dict[str, Tensor], views: Mapping[str, tuple[str, list[int]]]) -> dict[str, Tensor]:
    """What went in as bits, in its own dtype and shape again."""
    for name in views.keys() & found.keys():
        kind, shape = views[name]
        found[name] = found[name].view(ELEMENT_TYPES[kind].numpy).reshape(shape)
    return found


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
