"""The safetensors format: a JSON header and the bytes, mapped into memory and never copied.

https://huggingface.co/docs/safetensors describes it. Read and written here rather than by the library so that every
dtype we store is there and memory does not grow with the file.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import DataError
from assay.files.json_text import parse_json
from assay.files.reading import WEIGHTS, RegularFile, Unreadable
from assay.weights.element_types import ELEMENT_TYPES, bits_of
from assay.weights.packs.tensor_record import LARGEST_TENSOR, MOST_DIMENSIONS, is_storable
from assay.weights.store import Tensor

_LENGTH = struct.Struct("<Q")
LARGEST_HEADER = 100 << 20
DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2": "float8_e5m2",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "F8_E8M0": "float8_e8m0fnu",
    "C64": "complex64",
    "BOOL": "bool",
    **{f"{sign}{bits}": f"{name}{bits}" for sign, name in (("I", "int"), ("U", "uint")) for bits in (8, 16, 32, 64)},
}
_CODES = {name: code for code, name in DTYPES.items()}


class SafetensorsFile(Mapping[str, Tensor]):
    """The tensors of a file, each a view of the mapped bytes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with RegularFile(path, WEIGHTS) as file:
                head = os.pread(file.descriptor, _LENGTH.size, 0)
                length = _LENGTH.unpack(head)[0] if len(head) == _LENGTH.size else file.size
                if length > min(LARGEST_HEADER, file.size - _LENGTH.size):
                    raise DataError(f"{path} is not a safetensors file: its header is longer than the file")
                header = _header(path, os.pread(file.descriptor, length, _LENGTH.size))
                self._data = memoryview(mmap.mmap(file.descriptor, 0, access=mmap.ACCESS_READ))[_LENGTH.size + length :]
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror}") from None
        if not isinstance(header, dict):
            raise DataError(f"{path} is not a safetensors file: its header is not a mapping")
        header.pop("__metadata__", None)
        self._entries = {name: self._entry(name, entry) for name, entry in header.items()}

    def _entry(self, name: str, entry: Any) -> tuple[str, tuple[int, ...], int, int]:
        try:
            dtype, shape, (begin, end) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
            shaped = isinstance(entry["shape"], list) and isinstance(dtype, str)
            whole = shaped and all(type(number) is int and number >= 0 for number in (*shape, begin, end))
        except (KeyError, TypeError, ValueError):
            raise DataError(f"{self.path}: tensor {name!r} is not described as it should be") from None
        if not shaped:
            raise DataError(f"{self.path}: tensor {name!r} is not described as it should be")
        if not whole:
            raise DataError(f"{self.path}: tensor {name!r} does not fit: a length or place is not a whole number")
        if dtype not in DTYPES:
            raise DataError(f"{self.path}: tensor {name!r} has dtype {dtype[:40]}, which cannot be stored")
        if not is_storable(shape):
            raise DataError(
                f"{self.path}: tensor {name!r} has a shape that cannot be stored: {len(shape)} dimensions, the first "
                f"of them {shape[:4]}; there may be {MOST_DIMENSIONS}, of {LARGEST_TENSOR:,} elements together"
            )
        count = prod(shape)
        if end > len(self._data) or end - begin != count * ELEMENT_TYPES[DTYPES[dtype]].itemsize:
            raise DataError(f"{self.path}: tensor {name!r} does not fit: shape {shape}, bytes {begin} to {end}")
        return DTYPES[dtype], shape, begin, end

    def __getitem__(self, name: str) -> Tensor:
        dtype, shape, begin, end = self._entries[name]
        kind = ELEMENT_TYPES[dtype]
        return np.frombuffer(self._data[begin:end], np.uint8).view(kind.numpy).reshape(shape)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _header(path: Path, written: bytes) -> Any:
    try:
        return parse_json(written, path)
    except Unreadable as error:
        raise DataError(f"{path} is not a safetensors file: its header {error.reason}") from None


def write_safetensors(path: Path, tensors: Iterable[tuple[str, str, tuple[int, ...], Any]]) -> None:
    """`tensors` are name, dtype, shape and a function that returns the tensor; only one is in memory at a time."""
    listed = list(tensors)
    header: dict[str, Any] = {}
    place = 0
    for name, dtype, shape, _ in listed:
        if dtype not in _CODES:
            raise DataError(f"tensor {name!r} is {dtype}, which the safetensors format does not have")
        size = int(np.prod(shape, dtype=np.int64)) * ELEMENT_TYPES[dtype].itemsize
        header[name] = {"dtype": _CODES[dtype], "shape": list(shape), "data_offsets": [place, place + size]}
        place += size
    encoded = json.dumps(header, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % 8)
    temporary = path.with_name(path.name + ".part")
    try:
        with temporary.open("wb") as file:
            file.write(_LENGTH.pack(len(encoded)) + encoded)
            for _, _, _, read in listed:
                file.write(bits_of(read()).view(np.uint8).data)
        temporary.replace(path)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            temporary.unlink()
