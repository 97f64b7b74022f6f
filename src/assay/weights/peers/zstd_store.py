from __future__ import annotations

from pathlib import Path

import numpy as np

from assay.weights.dtype import ELEMENT_TYPES
from assay.weights.peers.framed import FramedStore
from assay.weights.store import Tensor


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
