from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.weights.bases.sketch import sketch_of
from assay.weights.dtype import ELEMENT_TYPES, bits_of, element_type
from assay.weights.store import Tensor


@dataclass(frozen=True)
class TensorFamilies:
    """Models whose tensors are variants of a few originals, under names that do not tell which: a clustering has to.

    Each model holds one member of every family, in an order of its own.
    """

    models: tuple[dict[str, Tensor], ...]
    truth: tuple[int, ...]
    """The family of every tensor, model after model."""

    @property
    def tensors(self) -> list[Tensor]:
        return [tensor for model in self.models for tensor in model.values()]

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in self.tensors)

    def sketches(self) -> Tensor:
        return np.stack([sketch_of(bits_of(tensor), element_type(tensor.dtype)) for tensor in self.tensors])


def tensor_families(
    families: int, members: int, elements: int = 4096, step: float = 0.05, seed: int = 0, dtype: str = "float32"
) -> TensorFamilies:
    """Members differ from their original by `step` times its spread."""
    rng = np.random.default_rng([seed, families])
    originals = [rng.standard_normal(elements, dtype=np.float32) for _ in range(families)]
    models, truth = [], []
    for member in range(members):
        order = [int(family) for family in rng.permutation(families)]
        model: dict[str, Tensor] = {}
        for place, family in enumerate(order):
            noise = rng.standard_normal(elements, dtype=np.float32)
            variant = originals[family] + np.float32(step) * noise
            model[f"model-{member}.tensor-{place}"] = variant.astype(ELEMENT_TYPES[dtype].numpy)
        models.append(model)
        truth.extend(order)
    return TensorFamilies(tuple(models), tuple(truth))
