from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""One row a text, of length 1 each, so that the inner product is the cosine."""


class Embedding(Protocol):
    def learn(self, texts: Sequence[str]) -> None:
        """Once, from the texts that will be searched."""

    def vectors(self, texts: Sequence[str]) -> Vectors: ...
