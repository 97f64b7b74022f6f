from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.errors import DataError
from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage
from assay.record.metric import Metric
from assay.stages.pytorch.device import choose_device
from assay.stages.pytorch.libraries import library
from assay.stages.self_rag.asked.passage import Passage
from assay.stages.self_rag.asked.question import Question
from assay.stages.self_rag.asked.reply import question_of
from assay.stages.self_rag.search.embedding import Embedding
from assay.stages.self_rag.search.hashed_words import HASHED, HashedWords
from assay.stages.self_rag.search.sentence_embedding import load_sentence_embedding
from assay.stages.self_rag.text_rows import CorpusOptions, text_rows
from assay.stages.self_rag.towns.town_library import TownLibrary


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
