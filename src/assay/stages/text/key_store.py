"""Keys of documents on disk: one folder a split, each with arrays that a reader maps instead of reading.

`keys.npy` is sorted, so the keys of a range are one slice, found by bisection. A document is named by a number:
its split in the upper half, its row in the lower.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.pipeline import Collector, Split
from assay.stages.text.document_keys import DocumentKeys
from assay.stages.text.rows import import_arrow

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHIFT = 32


@dataclass(frozen=True)
class KeyPart:
    path: str
    rows: int


class KeyWriter(Collector[DocumentKeys, KeyPart]):
    name = "key_writer"

    def __init__(self, folder: str | Path) -> None:
        self.folder = str(folder)

    def begin(self, split: Split) -> None:
        self._index = split.index
        self._held: list[DocumentKeys] = []

    def process(self, data: DocumentKeys) -> None:
        self._held.append(data)

    def finish(self) -> KeyPart:
        import numpy as np
        from pyarrow import parquet

        path = Path(self.folder) / f"part-{self._index:05d}"
        aside = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
        aside.mkdir(parents=True)
        rows = sum(len(batch) for batch in self._held)
        if rows:
            together = DocumentKeys.concat(self._held)
            keys = together.keys.reshape(-1)
            order = np.argsort(keys, kind="stable")
            np.save(aside / "keys.npy", keys[order])
            np.save(aside / "rows.npy", (order // together.keys.shape[1]).astype(np.uint32))
            np.save(aside / "proof.npy", together.proof)
            parquet.write_table(import_arrow().table({"id": together.ids}), aside / "ids.parquet")
        self._held = []
        shutil.rmtree(path, ignore_errors=True)
        try:
            aside.rename(path)
        except OSError:
            # Another worker, thought dead, did the same split meanwhile: its folder holds the same.
            shutil.rmtree(aside, ignore_errors=True)
        return KeyPart(str(path), rows)

    def abandon(self) -> None:
        self._held = []


@dataclass(frozen=True)
class KeyStore:
    parts: Sequence[KeyPart]
    """In the order of their splits."""

    def keys(self) -> int:
        import numpy as np

        return sum(len(np.load(Path(part.path) / "keys.npy", mmap_mode="r")) for part in self.parts if part.rows)

    def range(self, first: int, last: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Keys from `first` to `last` (both included) and the documents that have them, part by part."""
        import numpy as np

        for split, part in enumerate(self.parts):
            if not part.rows:
                continue
            keys = np.load(Path(part.path) / "keys.npy", mmap_mode="r")
            start = int(np.searchsorted(keys, np.uint64(first), "left"))
            stop = int(np.searchsorted(keys, np.uint64(last), "right"))
            rows = np.load(Path(part.path) / "rows.npy", mmap_mode="r")[start:stop]
            yield np.asarray(keys[start:stop]), rows.astype(np.uint64) | np.uint64(split << SHIFT)

    def proof(self, documents: NDArray[Any]) -> NDArray[Any]:
        """Of each document, in the order given."""
        import numpy as np

        found: NDArray[Any] | None = None
        splits, rows = documents >> np.uint64(SHIFT), documents & np.uint64((1 << SHIFT) - 1)
        for split in np.unique(splits).tolist():
            here = splits == split
            proof = np.load(Path(self.parts[split].path) / "proof.npy", mmap_mode="r")
            if found is None:
                found = np.empty((len(documents), proof.shape[1]), proof.dtype)
            found[here] = proof[rows[here]]
        return np.empty((0, 1)) if found is None else found

    def ids(self, documents: NDArray[Any]) -> list[Any]:
        import numpy as np
        from pyarrow import parquet

        found: list[Any] = [None] * len(documents)
        splits, rows = documents >> np.uint64(SHIFT), documents & np.uint64((1 << SHIFT) - 1)
        for split in np.unique(splits).tolist():
            here = np.flatnonzero(splits == split)
            ids = parquet.read_table(Path(self.parts[split].path) / "ids.parquet").column("id")
            for at, one in zip(here.tolist(), ids.take(rows[here]).to_pylist(), strict=True):
                found[at] = one
        return found
