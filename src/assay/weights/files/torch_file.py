"""PyTorch checkpoints without PyTorch and without running anything in them.

A checkpoint is a zip with a pickle (`data.pkl`) and one file a storage. The pickle is read by an unpickler that knows
a handful of names and turns every other into an inert object; tensors become views of the mapped file.
"""

from __future__ import annotations

import mmap
import struct
import zipfile
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import AssayError, DataError
from assay.files.pickles import Dtype, NotData, TorchUnpickler
from assay.files.reading import WEIGHTS, RegularFile
from assay.weights.element_types import ELEMENT_TYPES
from assay.weights.packs.tensor_record import MOST_DIMENSIONS, is_storable
from assay.weights.store import Tensor

LARGEST_PICKLE = 64 << 20
LONGEST_NAME = 4096
_LONGEST_REASON = 200
_MOST_SKIPPED = 10_000
_DEEPEST = 64
MOST_REPEATED = 1 << 26
"""Elements of a tensor that has more of them than its storage, because some stand for many."""
MOST_VALUES = 1_000_000
"""A list that holds itself twice would otherwise be walked for ever."""


class TorchFile(Mapping[str, Tensor]):
    """The tensors of a checkpoint by their path in it (`model.layer.weight`); `skipped` names other values."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.skipped: list[str] = []
        self._tensors: dict[str, Tensor] = {}
        self._left = MOST_VALUES
        try:
            with RegularFile(path, WEIGHTS) as regular, open(regular.descriptor, "rb", closefd=False) as file:
                if not zipfile.is_zipfile(file):
                    raise DataError(
                        f"{path} is not a PyTorch file of the zip format; "
                        "save it again with torch.save of PyTorch 1.6 or later"
                    )
                with zipfile.ZipFile(file) as archive:
                    self._map = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
                    self._collect("", self._unpickle(archive), 0)
        except AssayError:
            raise
        except Exception as error:  # noqa: BLE001  (a damaged archive makes its reader fail anywhere)
            why = str(error)[:_LONGEST_REASON] or type(error).__name__
            raise DataError(f"{path} cannot be read as a PyTorch file: {why}") from None

    def __getitem__(self, name: str) -> Tensor:
        return self._tensors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def _unpickle(self, archive: zipfile.ZipFile) -> Any:
        names = [name for name in archive.namelist() if name == "data.pkl" or name.endswith("/data.pkl")]
        if len(names) != 1 or archive.getinfo(names[0]).file_size > LARGEST_PICKLE:
            raise DataError(f"{self.path} must have one data.pkl of at most {LARGEST_PICKLE >> 20} MB")
        prefix = names[0][: -len("data.pkl")]

        def storage(key: str, dtype: str) -> Tensor:
            return self._storage(archive, prefix, key, dtype)

        try:
            return TorchUnpickler(archive.read(names[0]), storage, _rebuild).load()
        except DataError as error:
            raise DataError(f"{self.path}: {error}") from None
        except Exception as error:  # noqa: BLE001  (a pickle can make any method of a plain value fail)
            why = str(error)[:_LONGEST_REASON] or type(error).__name__
            raise DataError(f"{self.path} has a pickle that does not describe tensors: {why}") from None

    def _storage(self, archive: zipfile.ZipFile, prefix: str, key: str, dtype: str) -> Tensor:
        try:
            info = archive.getinfo(f"{prefix}data/{key}")
        except KeyError:
            raise DataError(f"storage {key!r} is missing") from None
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            raise DataError(f"storage {key!r} is compressed or encrypted, which PyTorch never does")
        name_length, extra_length = struct.unpack_from("<HH", self._map, info.header_offset + 26)
        begin = info.header_offset + 30 + name_length + extra_length
        if begin + info.file_size > len(self._map):
            raise DataError(f"storage {key!r} goes beyond the end of the file")
        data = np.frombuffer(self._map[begin : begin + info.file_size], np.uint8)
        kind = ELEMENT_TYPES[dtype]
        return data[: data.size // kind.itemsize * kind.itemsize].view(kind.numpy)

    def _collect(self, prefix: str, value: Any, depth: int) -> None:
        if depth > _DEEPEST:
            raise DataError(f"{self.path} is nested deeper than {_DEEPEST} levels")
        if len(prefix) > LONGEST_NAME:
            raise DataError(f"{self.path} has a value with a name of more than {LONGEST_NAME} characters")
        self._left -= 1
        if self._left < 0:
            raise DataError(f"{self.path} names more than {MOST_VALUES:,} values")
        if isinstance(value, np.ndarray):
            self._tensors[prefix or "tensor"] = value
        elif isinstance(value, dict):
            for key, item in value.items():
                self._collect(f"{prefix}.{key}" if prefix else str(key), item, depth + 1)
        elif isinstance(value, list | tuple):
            for number, item in enumerate(value):
                self._collect(f"{prefix}.{number}" if prefix else str(number), item, depth + 1)
        elif len(self.skipped) < _MOST_SKIPPED:
            self.skipped.append(prefix)


def _rebuild(storage: Any, offset: Any, size: Any, stride: Any, *rest: Any) -> Any:
    """A view of the storage, after checking that its farthest element lies inside."""
    if not isinstance(storage, np.ndarray):
        return NotData()
    for extra in rest:
        if isinstance(extra, Dtype):
            storage = storage.view(np.uint8).view(ELEMENT_TYPES[extra.name].numpy)
    shaped = isinstance(size, list | tuple) and isinstance(stride, list | tuple) and len(size) == len(stride)
    if not shaped or len(size) > MOST_DIMENSIONS:
        raise DataError(f"a tensor has no shape and strides of at most {MOST_DIMENSIONS} dimensions")
    numbers = (offset, *size, *stride)
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise DataError("a tensor has a shape or stride that makes no sense")
    farthest = offset + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    if not is_storable(size):
        raise DataError("a tensor has a shape that no memory could hold")
    if 0 in size:
        return np.empty(tuple(size), storage.dtype)
    if prod(size) > max(storage.size, MOST_REPEATED):
        raise DataError(f"a tensor of shape {tuple(size)} repeats a storage of {storage.size} elements too often")
    if farthest >= storage.size:
        raise DataError(f"a tensor of shape {tuple(size)} goes beyond its storage of {storage.size} elements")
    steps = tuple(step * storage.itemsize for step in stride)
    return np.lib.stride_tricks.as_strided(storage[offset:], tuple(size), steps, writeable=False)
