from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from assay.weights.peers.safetensors_store import SafetensorsStore
from assay.weights.store import Tensor


class LossyStore(SafetensorsStore):
    """Keeps floats as float16 and gives them back in their own dtype: a store that must fail the accuracy suite."""

    def write(self, file: Path, tensors: Mapping[str, Tensor]) -> None:
        super().write(file, {name: _round(tensor) for name, tensor in tensors.items()})


def _round(tensor: Tensor) -> Tensor:
    if tensor.dtype.kind != "f" and tensor.dtype.name != "bfloat16":
        return tensor
    with np.errstate(over="ignore", invalid="ignore"):
        return tensor.astype(np.float16).astype(tensor.dtype)
