"""An embedding that needs no model: words weighted by how rare they are, hashed into a vector of fixed length.

Feature hashing with signs: Weinberger et al., "Feature hashing for large scale multitask learning", ICML 2009.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log
from zlib import crc32

import numpy as np

from assay.stages.self_rag.search.embedding import Vectors

HASHED = "hashed"
"""Name by which configurations ask for it."""


class HashedWords:
    def __init__(self, dimensions: int = 4096) -> None:
        self._dimensions = dimensions
        self._rarity: dict[str, float] = {}
        self._of_unknown = 1.0

    def learn(self, texts: Sequence[str]) -> None:
        holding = Counter(word for text in texts for word in set(_words(text)))
        self._of_unknown = log(1 + len(texts)) + 1
        self._rarity = {word: log((1 + len(texts)) / (1 + count)) + 1 for word, count in holding.items()}

    def vectors(self, texts: Sequence[str]) -> Vectors:
        found = np.zeros((len(texts), self._dimensions), np.float32)
        for row, text in zip(found, texts, strict=True):
            for word, count in Counter(_words(text)).items():
                digest = crc32(word.encode())
                sign = 1 if digest >> 31 else -1
                weight = (1 + log(count)) * self._rarity.get(word, self._of_unknown)
                row[digest % self._dimensions] += sign * weight
            length = float(np.linalg.norm(row))
            if length:
                row /= length
        return found


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
