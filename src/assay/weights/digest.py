from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.weights.dtype import ElementType
from assay.weights.store import Tensor

if TYPE_CHECKING:
    from blake3 import blake3

DIGEST_BYTES = 24
"""192 bits of BLAKE3: nobody finds two contents with the same."""


def hasher_of(kind: ElementType, shape: tuple[int, ...]) -> blake3:
    """A hasher that knows dtype and shape already; the bits of the tensor are still to be given."""
    from blake3 import blake3

    return blake3(f"{kind.name}{shape}".encode())


def content_digest(bits: Tensor, kind: ElementType, shape: tuple[int, ...]) -> bytes:
    """What a tensor is: its dtype, shape and every bit."""
    hasher = hasher_of(kind, shape)
    hasher.update(np.ascontiguousarray(bits).view(np.uint8).data)
    return bytes(hasher.digest(DIGEST_BYTES))


def bytes_digest(data: bytes) -> bytes:
    from blake3 import blake3

    return bytes(blake3(data).digest(DIGEST_BYTES))
