from __future__ import annotations

import numpy as np

from assay.weights.dtype import ElementType
from assay.weights.store import Tensor

DIGEST_BYTES = 24
"""192 bits of BLAKE3: nobody finds two contents with the same."""


def content_digest(bits: Tensor, kind: ElementType, shape: tuple[int, ...]) -> bytes:
    """What a tensor is: its dtype, shape and every bit."""
    from blake3 import blake3

    hasher = blake3(f"{kind.name}{shape}".encode())
    hasher.update(np.ascontiguousarray(bits).view(np.uint8).data)
    return bytes(hasher.digest(DIGEST_BYTES))


def bytes_digest(data: bytes) -> bytes:
    from blake3 import blake3

    return bytes(blake3(data).digest(DIGEST_BYTES))
