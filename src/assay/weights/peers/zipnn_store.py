from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from assay.weights.dtype import ELEMENT_TYPES, bits_of
from assay.weights.peers.framed import FramedStore
from assay.weights.store import Tensor

SUPPORTED = ("float32", "bfloat16", "float16")
"""zipnn refuses every other dtype; those are kept as raw bytes."""


class ZipnnStore(FramedStore):
    """Hershcovitch et al., "ZipNN: Lossless Compression for AI Models" (2024), by its own package.

    With `xor`, each tensor is compressed as the XOR with the tensor of the same name, dtype and size in the version
    before, which is how its paper treats checkpoints. A version is then read through the versions before it.
    """

    def __init__(self, path: Path, xor: bool = False) -> None:
        super().__init__(path)
        self.xor = xor
        self._previous: dict[str, tuple[str, Tensor]] = {}
        self._bases: dict[str, tuple[str, Tensor]] = {}
        self._codecs: dict[str, Any] = {}

    def write(self, file: Path, tensors: Mapping[str, Tensor]) -> None:
        if self.xor and not self._previous and (files := self._files()):
            self._previous = _with_bits(self.load(files[-1].stem))
        super().write(file, tensors)
        if self.xor:
            self._previous = _with_bits({name: tensor.copy() for name, tensor in tensors.items()})

    def read(self, file: Path, names: Iterable[str] | None) -> dict[str, Tensor]:
        wanted = None if names is None else list(names)
        if not self.xor:
            return super().read(file, wanted)
        final = file.stem
        self._bases = {}
        for earlier in self._files():
            found = super().read(earlier, wanted if earlier.stem == final else None)
            if earlier.stem == final:
                return found
            self._bases = _with_bits(found)
        return super().read(file, wanted)

    def encode(self, name: str, bits: Tensor, dtype: str) -> bytes:
        base = _matching(self._previous, name, dtype, bits.size)
        if self.xor and base is not None:
            return b"x" + self._compress(bits ^ base, dtype)
        return b"p" + self._compress(bits, dtype)

    def decode(self, name: str, blob: bytes, dtype: str, count: int) -> Tensor:
        kind = ELEMENT_TYPES[dtype]
        raw = blob[1:]
        if dtype in SUPPORTED and count:
            raw = self._codec(dtype).decompress(raw)
        bits: Tensor = np.frombuffer(raw, kind.bit_view)
        if blob[:1] == b"x":
            return bits ^ self._bases[name][1]
        return bits

    def _compress(self, bits: Tensor, dtype: str) -> bytes:
        # A bytearray of its own: the library reorders bits inside the buffer it is given.
        raw = bytearray(bits.tobytes())
        if dtype not in SUPPORTED or not raw:
            return bytes(raw)
        blob: bytes = self._codec(dtype).compress(raw)
        return blob

    def _codec(self, dtype: str) -> Any:
        from zipnn import ZipNN

        if dtype not in self._codecs:
            self._codecs[dtype] = ZipNN(input_format="byte", bytearray_dtype=dtype, threads=1)
        return self._codecs[dtype]


def _with_bits(tensors: Mapping[str, Tensor]) -> dict[str, tuple[str, Tensor]]:
    return {name: (tensor.dtype.name, bits_of(tensor)) for name, tensor in tensors.items()}


def _matching(bases: Mapping[str, tuple[str, Tensor]], name: str, dtype: str, size: int) -> Tensor | None:
    if name not in bases:
        return None
    base_dtype, bits = bases[name]
    return bits if base_dtype == dtype and bits.size == size else None
