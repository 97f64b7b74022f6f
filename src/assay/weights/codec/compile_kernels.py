"""`python -m assay.weights.codec.compile_kernels`: compiles every kernel into the cache that later processes read."""

from __future__ import annotations

import numpy as np

from assay.weights.codec.codec_methods import Method
from assay.weights.element_types import ELEMENT_TYPES, bits_of


def warm() -> None:
    """Importing compiles, since every kernel states its types; a round trip each way shows that they run here."""
    from assay.weights.codec.chunk import decode_chunk, encode_chunk

    rng = np.random.default_rng(0)
    for name in ("float32", "float16", "float8_e4m3fn"):
        kind = ELEMENT_TYPES[name]
        base = bits_of(rng.standard_normal(70_000).astype(kind.numpy))
        bits = base ^ rng.integers(0, 8, base.size).astype(base.dtype)
        alone = (Method.PLANES, Method.SHORT) if kind.bits == 16 else (Method.PLANES,)
        for method in (*alone, Method.DIFFERENCE, Method.XOR):
            chunk = encode_chunk(method, bits, base, kind)
            out = np.empty_like(bits)
            decode_chunk(chunk.method, memoryview(chunk.data), base, kind, out)
            if not np.array_equal(out, bits):
                raise SystemExit(f"the compiled kernels do not work on this machine ({name}, {method.name})")


if __name__ == "__main__":
    warm()
