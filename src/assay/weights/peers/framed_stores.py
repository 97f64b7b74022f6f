from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.errors import DataError
from assay.weights.element_types import ELEMENT_TYPES, bits_of, element_type
from assay.weights.peers.file_stores import SafetensorsStore, SnapshotStore
from assay.weights.store import Tensor


@dataclass(frozen=True)
class Footer:
    """Where each compressed tensor lies, and which version (if any) they were compressed against."""

    base: str | None
    tensors: list[tuple[str, str, list[int], int, int]]
    """Name, dtype, shape, offset, size."""

    @classmethod
    def of(cls, file: Path) -> Footer:
        with file.open("rb") as opened:
            end = opened.seek(0, 2)
            opened.seek(max(0, end - 8))
            length = int.from_bytes(opened.read(8), "little")
            if not 0 < length <= end - 8:
                raise DataError(f"{file}: the table at its end is damaged")
            opened.seek(end - 8 - length)
            try:
                written = json.loads(opened.read(length))
                return cls(written["base"], [tuple(row) for row in written["tensors"]])
            except (ValueError, KeyError, TypeError):
                raise DataError(f"{file}: the table at its end is damaged") from None


class FramedStore(SnapshotStore):
    """A compressor of bytes as a store: compressed tensors one after another, then a JSON table and its length."""

    suffix = ".bin"
    base: str | None = None

    @abstractmethod
    def encode(self, name: str, bits: Tensor, dtype: str) -> bytes: ...

    @abstractmethod
    def decode(self, name: str, blob: bytes, dtype: str, count: int) -> Tensor:
        """`count` bit patterns, as unsigned integers of the dtype's width."""

    def write(self, file: Path, tensors: Mapping[str, Tensor]) -> None:
        table = []
        with file.open("wb") as out:
            for name, tensor in tensors.items():
                dtype = element_type(tensor.dtype).name
                blob = self.encode(name, bits_of(tensor), dtype)
                table.append([name, dtype, list(tensor.shape), out.tell(), len(blob)])
                out.write(blob)
            footer = json.dumps({"base": self.base, "tensors": table}).encode()
            out.write(footer)
            out.write(len(footer).to_bytes(8, "little"))

    def read(self, file: Path, names: Iterable[str] | None) -> dict[str, Tensor]:
        wanted = None if names is None else set(names)
        found: dict[str, Tensor] = {}
        with file.open("rb") as opened:
            for name, dtype, shape, offset, size in Footer.of(file).tensors:
                if wanted is None or name in wanted:
                    opened.seek(offset)
                    kind = ELEMENT_TYPES[dtype]
                    count = int(np.prod(shape, dtype=np.int64)) * kind.lanes
                    found[name] = self.decode(name, opened.read(size), dtype, count).view(kind.numpy).reshape(shape)
        return found


class Blosc2Store(FramedStore):
    def encode(self, name: str, bits: Tensor, dtype: str) -> bytes:
        import blosc2

        if not bits.size:
            return b""
        options = {"codec": blosc2.Codec.LZ4, "filters": [blosc2.Filter.BITSHUFFLE], "filters_meta": [0]}
        blob: bytes = blosc2.compress2(bits, typesize=bits.itemsize, clevel=5, nthreads=1, **options)
        return blob

    def decode(self, name: str, blob: bytes, dtype: str, count: int) -> Tensor:
        import blosc2

        kind = ELEMENT_TYPES[dtype]
        if not count:
            return np.empty(0, kind.bit_view)
        bits = np.empty(count, kind.bit_view)
        blosc2.decompress2(blob, dst=bits, nthreads=1)
        return bits


class ZstdStore(FramedStore):
    def __init__(self, path: Path, level: int = 3) -> None:
        import zstandard

        super().__init__(path)
        self._compressor = zstandard.ZstdCompressor(level=level)
        self._decompressor = zstandard.ZstdDecompressor()

    def encode(self, name: str, bits: Tensor, dtype: str) -> bytes:
        blob: bytes = self._compressor.compress(bits.data if bits.size else b"")
        return blob

    def decode(self, name: str, blob: bytes, dtype: str, count: int) -> Tensor:
        kind = ELEMENT_TYPES[dtype]
        raw = self._decompressor.decompress(blob, max_output_size=count * kind.bits // 8)
        return np.frombuffer(raw, kind.bit_view)


class LossyStore(SafetensorsStore):
    """Keeps floats as float16 and gives them back in their own dtype: a store that must fail the accuracy suite."""

    def write(self, file: Path, tensors: Mapping[str, Tensor]) -> None:
        super().write(file, {name: _round(tensor) for name, tensor in tensors.items()})


def _round(tensor: Tensor) -> Tensor:
    if tensor.dtype.kind != "f" and tensor.dtype.name != "bfloat16":
        return tensor
    with np.errstate(over="ignore", invalid="ignore"):
        return tensor.astype(np.float16).astype(tensor.dtype)
