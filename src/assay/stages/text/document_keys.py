from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Self

from assay.pipeline import Batch, Stage, Worker
from assay.stages.text.document_ids import Ids, concat_ids
from assay.stages.text.minhash import band_keys, signatures
from assay.stages.text.rows import Rows
from assay.stages.text.text_column import TextColumn, ids_and_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class DocumentKeys(Batch):
    """What is needed of documents to find those that are alike: documents that share a key may be."""

    ids: Ids
    keys: NDArray[Any]
    """uint64, one row a document."""
    proof: NDArray[Any]
    """What decides whether two documents that share a key are alike, one row a document."""

    def __len__(self) -> int:
        return len(self.ids)

    def slice(self, start: int, stop: int) -> Self:
        return type(self)(self.ids.slice(start, stop), self.keys[start:stop], self.proof[start:stop])

    @classmethod
    def concat(cls, batches: Sequence[Self]) -> Self:
        import numpy as np

        keys = np.concatenate([batch.keys for batch in batches])
        proof = np.concatenate([batch.proof for batch in batches])
        return cls(concat_ids([batch.ids for batch in batches]), keys, proof)


class ExactKeys(Stage[Rows, DocumentKeys]):
    """Half of a 128-bit digest of the text is the key, the other half the proof."""

    name = "exact_hash"

    def __init__(self, id_field: str, text_field: str) -> None:
        self.id_field, self.text_field = id_field, text_field

    def process(self, data: Rows) -> DocumentKeys:
        import numpy as np

        ids, texts = ids_and_texts(data, self.id_field, self.text_field)
        digests = b"".join(blake2b(text, digest_size=16).digest() for text in texts.plain())
        halves = np.frombuffer(digests, np.uint64).reshape(-1, 2)
        return DocumentKeys(ids, halves[:, :1], halves[:, 1:])


class NearKeys(Stage[Rows, DocumentKeys]):
    """MinHash signatures, cut into bands (Indyk, Motwani, 1998; Leskovec, Rajaraman, Ullman, chapter 3)."""

    name = "minhash"

    def __init__(self, id_field: str, text_field: str) -> None:
        self.id_field, self.text_field = id_field, text_field

    def setup(self, worker: Worker) -> None:
        signatures(TextColumn.packed([]))

    def process(self, data: Rows) -> DocumentKeys:
        ids, texts = ids_and_texts(data, self.id_field, self.text_field)
        rows = signatures(texts)
        return DocumentKeys(ids, band_keys(rows), rows)
