from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from assay.errors import UsageError
from assay.stages.torchvision_classification.data.image_split import ImageSplit
from assay.stages.torchvision_classification.image_batch import ImageBatch

Position = tuple[int, int]
"""The epoch, and the number of the batch in it."""


class ImageBatches:
    """The batches of all epochs, each a function of its position alone: whoever makes it makes the same.

    An epoch is the batches of the splits that train, then those of the others. Images that train are in another order
    in each epoch. All batches have the same size: what is left over at a split's end is not used in that epoch.
    """

    def __init__(
        self,
        splits: Sequence[ImageSplit],
        batch_size: int,
        seed: int,
        preprocess: Callable[[tuple[Any, ...]], Any] | None,
    ) -> None:
        self._splits = splits
        self._batch_size = batch_size
        self._seed = seed
        self._preprocess = preprocess
        self._order: tuple[int, dict[str, Any]] = (-1, {})
        for split in splits:
            if len(split) < batch_size:
                raise UsageError(
                    f"batch_size is {batch_size}, and the split {split.name!r} has {len(split)} images: "
                    "not one full batch. Make batch_size smaller or the data set larger"
                )

    def __len__(self) -> int:
        """Batches of one epoch."""
        return sum(len(split) // self._batch_size for split in self._splits)

    def __getitem__(self, position: Position) -> ImageBatch:
        import torch

        epoch, n = position
        for split in self._splits:
            if n < len(split) // self._batch_size:
                break
            n -= len(split) // self._batch_size
        chosen = self._draw_order(split, epoch)[n * self._batch_size : (n + 1) * self._batch_size]
        images, labels = zip(*(split.image(index) for index in chosen.tolist()), strict=True)
        made = images if self._preprocess is None else self._preprocess(images)
        return ImageBatch(made, torch.tensor(labels), split.name, epoch, split.classes)

    def _draw_order(self, split: ImageSplit, epoch: int) -> Any:
        if not split.trains:
            return split.indices
        if self._order[0] != epoch:
            self._order = (epoch, {})
        if split.name not in self._order[1]:
            self._order[1][split.name] = np.random.default_rng([self._seed, epoch]).permutation(split.indices)
        return self._order[1][split.name]
