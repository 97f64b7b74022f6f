"""Keys of documents on disk: one folder a split, each with arrays that a reader maps instead of reading.

Keys stand in buckets by their upper bits, so the keys of a range of buckets are one slice. A document is named by a
number: its split in the upper half, its row in the lower.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from assay.native import near_duplicates
from assay.pipeline import Batch, Collector, Split, Stage, Worker
from assay.stages.text.document_ids import Ids, concat_ids, load_ids
from assay.stages.text.document_rows import Rows
from assay.stages.text.minhash import band_keys, signatures
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


SHIFT = 32
BUCKET_BITS = 12
BUCKETS = 1 << BUCKET_BITS


@dataclass(frozen=True)
class KeyPart:
    path: str
    rows: int
    keys: int
    """Keys of all rows together."""


class KeyWriter(Collector[DocumentKeys, KeyPart]):
    """Proofs go to disk batch by batch, keys and ids when the split is done."""

    name = "key_writer"

    def __init__(self, folder: str | Path) -> None:
        self.folder = str(folder)
        self._aside: Path | None = None
        self._proof: BinaryIO | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_proof": None}

    def begin(self, split: Split) -> None:
        self._path = Path(self.folder) / f"part-{split.index:05d}"
        self._aside = self._path.with_name(f".{self._path.name}.{os.getpid()}-{os.urandom(4).hex()}")
        self._aside.mkdir(parents=True)
        self._proof = (self._aside / "proof.bin").open("wb", buffering=0)
        self._ids: list[Ids] = []
        self._keys: list[NDArray[Any]] = []

    def process(self, data: DocumentKeys) -> None:
        import numpy as np

        assert self._proof is not None, "begin() comes first"
        write_whole(self._proof, np.ascontiguousarray(data.proof).data.cast("B"))
        self._ids.append(data.ids)
        self._keys.append(data.keys)

    def finish(self) -> KeyPart:
        import numpy as np

        assert self._aside is not None, "begin() comes first"
        assert self._proof is not None
        self._proof.close()
        rows = sum(map(len, self._keys))
        keys = np.concatenate(self._keys) if rows else np.zeros((0, 1), np.uint64)
        self._keys = []
        if rows:
            for name, array in zip(("keys", "rows", "starts"), partition(keys), strict=True):
                np.save(self._aside / f"{name}.npy", array)
            concat_ids(self._ids).save(self._aside)
        self._ids = []
        shutil.rmtree(self._path, ignore_errors=True)
        try:
            self._aside.rename(self._path)
        except OSError:
            # Another worker, thought dead, did the same split meanwhile: its folder holds the same.
            shutil.rmtree(self._aside, ignore_errors=True)
        return KeyPart(str(self._path), rows, keys.size)

    def abandon(self) -> None:
        self._ids, self._keys = [], []
        if self._proof is not None:
            self._proof.close()
        if self._aside is not None:
            shutil.rmtree(self._aside, ignore_errors=True)


def write_whole(file: BinaryIO, data: memoryview) -> None:
    """Writes all of the data: an unbuffered file may take less than it is given at a time."""
    while len(data):
        data = data[file.write(data) :]


def partition(keys: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Keys (a row a document) by bucket and within it by document, the row of each, and where each bucket starts."""
    import numpy as np

    if (done := near_duplicates.partition(keys, BUCKETS)) is not None:
        return done
    flat = keys.reshape(-1)
    buckets = flat >> np.uint64(64 - BUCKET_BITS)
    order = np.argsort(buckets, kind="stable")
    starts = np.searchsorted(buckets[order], np.arange(BUCKETS + 1, dtype=np.uint64))
    return flat[order], (order // keys.shape[1]).astype(np.uint32), starts


@dataclass(frozen=True)
class KeyStore:
    parts: Sequence[KeyPart]
    """Parts in the order of their splits."""

    def keys(self) -> int:
        return sum(part.keys for part in self.parts)

    def buckets(self) -> list[tuple[int, NDArray[Any], NDArray[Any], NDArray[Any]]]:
        """Number of the split, keys, rows and starts of the buckets, for each part that has rows."""
        import numpy as np

        names = ("keys", "rows", "starts")
        loaded = ((at, Path(part.path)) for at, part in enumerate(self.parts) if part.rows)
        return [(at, *(np.load(path / f"{name}.npy", mmap_mode="r") for name in names)) for at, path in loaded]

    def proofs(self, splits: NDArray[Any]) -> list[NDArray[Any] | None]:
        """Proofs of each split's documents, a row a document, as 32-bit numbers; None for splits that were not asked
        for."""
        import numpy as np

        found: list[NDArray[Any] | None] = [None] * len(self.parts)
        for split in splits.tolist():
            held = np.memmap(Path(self.parts[split].path) / "proof.bin", np.uint32, "r")
            found[split] = held.reshape(self.parts[split].rows, -1)
        return found

    def ids(self, documents: NDArray[Any]) -> list[Any]:
        """Values of the ids of documents, in the order given."""
        return self._each(documents, lambda ids, rows: ids.values(rows))

    def id_tokens(self, documents: NDArray[Any]) -> list[bytes]:
        """Ids of documents as JSON, in the order given."""
        return self._each(documents, lambda ids, rows: ids.tokens(rows))

    def _each(self, documents: NDArray[Any], read: Callable[[Ids, NDArray[Any]], list[Any]]) -> list[Any]:
        import numpy as np

        found = np.empty(len(documents), object)
        splits, rows = documents >> np.uint64(SHIFT), (documents & np.uint64((1 << SHIFT) - 1)).astype(np.intp)
        for split in np.unique(splits).tolist():
            here = np.flatnonzero(splits == split)
            found[here] = read(load_ids(Path(self.parts[split].path)), rows[here])
        return found.tolist()
