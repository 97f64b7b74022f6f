from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""One row a text, of length 1 each, so that the inner product is the cosine."""


class Embedding(Protocol):
    def learn(self, texts: Sequence[str]) -> None:
        """Once, from the texts that will be searched."""

    def vectors(self, texts: Sequence[str]) -> Vectors: ...


class SentenceEmbedding:
    """A model of sentence-transformers, already on its device."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def learn(self, texts: Sequence[str]) -> None:
        pass

    def vectors(self, texts: Sequence[str]) -> Vectors:
        found = self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.ascontiguousarray(found, np.float32)
