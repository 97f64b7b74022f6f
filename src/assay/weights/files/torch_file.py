"""PyTorch checkpoints without PyTorch and without running anything in them.

A checkpoint is a zip with a pickle (`data.pkl`) and one file a storage. The pickle is read by an unpickler that knows
a handful of names and turns every other into an inert object; tensors become views of the mapped file.
"""

from __future__ import annotations

import io
import mmap
import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import DataError
from assay.weights.dtype import ELEMENT_TYPES
from assay.weights.store import Tensor

LARGEST_PICKLE = 256 << 20
_DEEPEST = 64
_STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "Float8_e4m3fnStorage": "float8_e4m3fn",
    "Float8_e5m2Storage": "float8_e5m2",
}
_DTYPES = {
    "float8_e4m3fn": "float8_e4m3fn",
    "float8_e5m2": "float8_e5m2",
    "uint16": "uint16",
    "uint32": "uint32",
    "uint64": "uint64",
}


class Inert:
    """Stands for anything a pickle names that is not data. Calling it gives another one."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __setstate__(self, _: Any) -> None:
        pass

    def __call__(self, *_: Any, **__: Any) -> Inert:
        return Inert()


class _Storage:
    def __init__(self, dtype: str) -> None:
        self.dtype = dtype


class _Dtype:
    def __init__(self, name: str) -> None:
        self.name = name


class TorchFile(Mapping[str, Tensor]):
    """The tensors of a checkpoint by their path in it (`model.layer.weight`); `skipped` are other values."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.skipped: list[str] = []
        self._tensors: dict[str, Tensor] = {}
        if not zipfile.is_zipfile(path):
            raise DataError(
                f"{path} is not a PyTorch file of the zip format; save it again with torch.save of PyTorch 1.6 or later"
            )
        try:
            with path.open("rb") as file, zipfile.ZipFile(file) as archive:
                self._map = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
                self._collect("", self._unpickle(archive), 0)
        except (zipfile.BadZipFile, pickle.UnpicklingError, OSError, EOFError, struct.error, RecursionError) as error:
            raise DataError(f"{path} cannot be read as a PyTorch file: {error}") from None

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
            return _Unpickler(archive.read(names[0]), storage).load()
        except DataError as error:
            raise DataError(f"{self.path}: {error}") from None
        except Exception as error:  # noqa: BLE001  (a pickle can make any method of a plain value fail)
            raise DataError(f"{self.path} has a pickle that does not describe tensors: {error}") from None

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
        if isinstance(value, np.ndarray):
            self._tensors[prefix or "tensor"] = value
        elif isinstance(value, dict):
            for key, item in value.items():
                self._collect(f"{prefix}.{key}" if prefix else str(key), item, depth + 1)
        elif isinstance(value, list | tuple):
            for number, item in enumerate(value):
                self._collect(f"{prefix}.{number}" if prefix else str(number), item, depth + 1)
        else:
            self.skipped.append(prefix)


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, storage: Any) -> None:
        super().__init__(io.BytesIO(data))
        self._storage = storage

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch._utils" and name in ("_rebuild_tensor_v2", "_rebuild_tensor", "_rebuild_tensor_v3"):
            return _rebuild
        if module == "torch._utils" and name in ("_rebuild_parameter", "_rebuild_parameter_with_state"):
            return _parameter
        if module in ("torch", "torch.storage"):
            if name in _STORAGES:
                return _Storage(_STORAGES[name])
            if name in ("UntypedStorage", "TypedStorage"):
                return _Storage("uint8")
            if name in _DTYPES:
                return _Dtype(_DTYPES[name])
        return Inert

    def persistent_load(self, saved: Any) -> Any:
        described = isinstance(saved, tuple) and len(saved) >= 3 and saved[0] == "storage"
        if not described or not isinstance(saved[1], _Storage):
            raise DataError("a storage is not described as PyTorch does")
        return self._storage(str(saved[2]), saved[1].dtype)


def _parameter(data: Any, *_: Any) -> Any:
    return data


def _rebuild(storage: Any, offset: Any, size: Any, stride: Any, *rest: Any) -> Any:
    """A view of the storage, after checking that its farthest element lies inside."""
    if not isinstance(storage, np.ndarray):
        return Inert()
    for extra in rest:
        if isinstance(extra, _Dtype):
            storage = storage.view(np.uint8).view(ELEMENT_TYPES[extra.name].numpy)
    numbers = (offset, *size, *stride)
    if len(size) != len(stride) or not all(type(number) is int and number >= 0 for number in numbers):
        raise DataError("a tensor has a shape or stride that makes no sense")
    farthest = offset + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    if 0 in size:
        return np.empty(tuple(size), storage.dtype)
    if farthest >= storage.size:
        raise DataError(f"a tensor of shape {tuple(size)} goes beyond its storage of {storage.size} elements")
    steps = tuple(step * storage.itemsize for step in stride)
    return np.lib.stride_tricks.as_strided(storage[offset:], tuple(size), steps, writeable=False)
