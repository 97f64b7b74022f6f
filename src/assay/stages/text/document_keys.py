from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

from assay.errors import DataError
from assay.pipeline import Batch, Stage, Worker
from assay.stages.text.minhash import band_keys, signatures
from assay.stages.text.rows import Rows, import_arrow

if TYPE_CHECKING:
    from numpy.typing import NDArray

BANDS = 32
"""Of 8 bins each: documents of similarity 0.8 share a band with probability 0.997, of 0.5 with 0.12."""


@dataclass(frozen=True)
class DocumentKeys(Batch):
    """What is needed of documents to find those that are alike: documents that share a key may be."""

    ids: list[Any]
    keys: NDArray[Any]
    """uint64, one row a document."""
    proof: NDArray[Any]
    """What decides whether two documents that share a key are alike, one row a document."""

    def __len__(self) -> int:
        return len(self.ids)

    def slice(self, start: int, stop: int) -> Self:
        return type(self)(self.ids[start:stop], self.keys[start:stop], self.proof[start:stop])

    @classmethod
    def concat(cls, batches: Sequence[Self]) -> Self:
        import numpy as np

        ids = [one for batch in batches for one in batch.ids]
        keys = np.concatenate([batch.keys for batch in batches])
        return cls(ids, keys, np.concatenate([batch.proof for batch in batches]))


class ExactKeys(Stage[Rows, DocumentKeys]):
    """Half of a 128-bit digest of the text is the key, the other half the proof."""

    name = "exact_hash"

    def __init__(self, id_field: str, text_field: str) -> None:
        self.id_field, self.text_field = id_field, text_field

    def process(self, data: Rows) -> DocumentKeys:
        import numpy as np

        ids, texts = data.columns(self.id_field, self.text_field)
        content, offsets = text_bytes(texts, getattr(data, "where", ""), self.text_field)
        view = memoryview(content.data)
        ends = offsets.tolist()
        digests = b"".join(blake2b(view[start:end], digest_size=16).digest() for start, end in pairwise(ends))
        halves = np.frombuffer(digests, np.uint64).reshape(-1, 2)
        return DocumentKeys(ids, halves[:, :1], halves[:, 1:])


class NearKeys(Stage[Rows, DocumentKeys]):
    """MinHash signatures, cut into bands (Indyk, Motwani, 1998; Leskovec, Rajaraman, Ullman, chapter 3)."""

    name = "minhash"

    def __init__(self, id_field: str, text_field: str) -> None:
        self.id_field, self.text_field = id_field, text_field

    def setup(self, worker: Worker) -> None:
        import numpy as np

        signatures(np.zeros(0, np.uint8), np.zeros(1, np.int64))

    def process(self, data: Rows) -> DocumentKeys:
        ids, texts = data.columns(self.id_field, self.text_field)
        rows = signatures(*text_bytes(texts, getattr(data, "where", ""), self.text_field))
        return DocumentKeys(ids, band_keys(rows, BANDS), rows)


def text_bytes(texts: list[Any], where: str, field: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """All texts as one run of UTF-8, and where each begins. A missing text is an empty one."""
    import numpy as np

    arrow = import_arrow()
    try:
        array = arrow.array(texts, arrow.large_string())
    except (arrow.ArrowException, TypeError) as error:
        raise DataError(f"{where}: {field}: not text in every row: {error}") from None
    _, offsets, content = array.buffers()
    starts = np.frombuffer(offsets, np.int64)[: len(texts) + 1] if len(texts) else np.zeros(1, np.int64)
    held = np.zeros(0, np.uint8) if content is None else np.frombuffer(content, np.uint8)
    return held, starts
