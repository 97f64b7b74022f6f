from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

from assay.weights.store import Tensor


def tensor_digest(tensor: Tensor) -> str:
    """dtype, shape and every bit in one word, to compare tensors across processes."""
    digest = blake2b(tensor.tobytes(), digest_size=16).hexdigest()
    return f"{tensor.dtype.name} {tensor.shape} {digest}"


def model_digests(model: Mapping[str, Tensor]) -> dict[str, str]:
    return {name: tensor_digest(tensor) for name, tensor in model.items()}
