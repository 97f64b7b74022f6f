from __future__ import annotations

from typing import Any

import numpy as np

_COARSE = 4
"""Fields a side of the pattern that all images of a class share."""


class GeneratedImages:
    """Images that can be told apart, but only by who has learnt how: image n is of class n modulo `num_classes`.

    A class is a random pattern of coloured fields. An image is that pattern, moved by up to an eighth of its side,
    under light of its own and noise. The same seed gives the same images.
    """

    def __init__(self, images: int, num_classes: int, image_size: int, difficulty: float, seed: int) -> None:
        self.num_classes = num_classes
        self._images = images
        self._size = image_size
        self._difficulty = difficulty
        self._seed = seed
        fields = np.random.default_rng([seed, 0]).uniform(-1, 1, (num_classes, 3, _COARSE, _COARSE))
        repeat = -(-image_size // _COARSE)
        self._patterns = np.kron(fields, np.ones((1, 1, repeat, repeat)))[:, :, :image_size, :image_size]

    def __len__(self) -> int:
        return self._images

    def __getitem__(self, n: int) -> tuple[Any, int]:
        import torch

        rng = np.random.default_rng([self._seed, 1, n])
        label = n % self.num_classes
        most = self._size // 8
        moved = np.roll(self._patterns[label], rng.integers(-most, most + 1, 2), (1, 2))
        noise = rng.standard_normal(moved.shape, np.float32)
        light = rng.uniform(-30, 30)
        pixels = 128 + light + 100 * ((1 - self._difficulty) * moved + self._difficulty * noise)
        return torch.from_numpy(np.clip(pixels, 0, 255).astype(np.uint8)), label
