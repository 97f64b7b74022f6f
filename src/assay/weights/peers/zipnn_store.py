from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from assay.weights.element_types import ELEMENT_TYPES, bits_of
from assay.weights.peers.framed_stores import Footer, FramedStore
from assay.weights.store import Tensor

SUPPORTED = ("float32", "bfloat16", "float16")
"""zipnn refuses every other dtype; those are kept as raw bytes."""


class ZipnnStore(FramedStore):
    """Hershcovitch et al., "ZipNN: Lossless Compression for AI Models" (2024), by its own package.

    With `xor`, each tensor is compressed as the XOR with the tensor of the same name, dtype and size in the version
    before, or in the one named by `base_on`, which is how its paper treats checkpoints and fine-tunes.
    """

    def __init__(self, path: Path, xor: bool = False) -> None:
        super().__init__(path)
        self.xor = xor
        self._bases: dict[str, tuple[str, Tensor]] = {}
        self._codecs: dict[str, Any] = {}

    def base_on(self, ref: str | None) -> None:
        self.base = ref

    def write(self, file: Path, tensors: Mapping[str, Tensor]) -> None:
        if self.xor and self.base:
            self._bases = _with_bits(self.load(self.base))
        super().write(file, tensors)
        self._bases = {}
        self.base = file.stem if self.xor else None

    def read(self, file: Path, names: Iterable[str] | None) -> dict[str, Tensor]:
        wanted = None if names is None else list(names)
        base = Footer.of(file).base
        bases = _with_bits(self.read(self._file(base), None)) if base else {}
        self._bases = bases
        return super().read(file, wanted)

    def encode(self, name: str, bits: Tensor, dtype: str) -> bytes:
        base = _matching(self._bases, name, dtype, bits.size)
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
