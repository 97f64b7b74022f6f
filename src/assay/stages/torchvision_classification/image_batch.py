from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ImageBatch:
    images: Any
    """Before preprocessing a tuple of uint8 tensors (3, height, width), of any sizes; after it one float tensor
    (images, 3, height, width)."""
    labels: Any
    """An int64 tensor, one number of a class for each image."""
    split: str = ""
    epoch: int = 0
    classes: int | None = None
    """How many the data set tells apart, where it says."""

    @property
    def preprocessed(self) -> bool:
        return not isinstance(self.images, tuple)


@dataclass(frozen=True)
class ClassifiedBatch:
    """What a model made of an `ImageBatch`, in its order."""

    predictions: tuple[int, ...]
    labels: tuple[int, ...]
    split: str = ""
    loss: float | None = None
    """Before the step that it led to; None where nothing was trained."""
