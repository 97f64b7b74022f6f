from __future__ import annotations

import numpy as np

from assay.weights.dtype import ELEMENT_TYPES
from assay.weights.peers.framed import FramedStore
from assay.weights.store import Tensor


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
