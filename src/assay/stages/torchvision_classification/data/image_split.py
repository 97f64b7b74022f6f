from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import DataError
from assay.stages.torchvision_classification.data.decoded_image import decode_image


@dataclass(frozen=True)
class ImageSplit:
    """Part of a data set: `data[i]` is an image and its label, for each i of `indices`."""

    name: str
    data: Any
    indices: NDArray[np.int64]
    classes: int | None = None

    @property
    def trains(self) -> bool:
        return is_for_training(self.name)

    def __len__(self) -> int:
        return len(self.indices)

    def image(self, index: int) -> tuple[Any, int]:
        """A uint8 tensor (3, height, width), and the label."""
        try:
            image, label = self.data[index]
            return decode_image(image), int(label)
        except Exception as error:  # noqa: BLE001  (data sets raise what they like; its words are kept)
            what = f"{type(error).__name__}: {error}"
            raise DataError(f"image {index} of the split {self.name!r} cannot be read: {what}") from None

    def preload(self) -> ImageSplit:
        """The same, read and decoded, in memory."""
        return ImageSplit(self.name, {i: self.image(i) for i in self.indices.tolist()}, self.indices, self.classes)


def is_for_training(split: str) -> bool:
    """`train`, `trainval`, `train-standard`: data sets name it differently, but all begin so."""
    return split.startswith("train")
