"""Ids of documents: JSON tokens as they stand in the lines, or values where the documents are no JSON."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.stages.text.document_rows import import_arrow, import_orjson

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOKENS, ENDS, VALUES = "ids.bin", "id_ends.npy", "ids.parquet"


class Ids(ABC):
    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def slice(self, start: int, stop: int) -> Ids: ...

    @abstractmethod
    def values(self, rows: NDArray[Any]) -> list[Any]:
        """Ids of these rows."""

    @abstractmethod
    def tokens(self, rows: NDArray[Any]) -> list[bytes]:
        """Ids of these rows as JSON."""

    @abstractmethod
    def save(self, folder: Path) -> None: ...


@dataclass(frozen=True)
class JsonIds(Ids):
    """Tokens one behind the other: token i stands at [ends[i], ends[i + 1])."""

    data: NDArray[Any]
    ends: NDArray[Any]

    def __len__(self) -> int:
        return len(self.ends) - 1

    def slice(self, start: int, stop: int) -> JsonIds:
        ends = self.ends[start : stop + 1]
        return JsonIds(self.data[ends[0] : ends[-1]], ends - ends[0])

    def tokens(self, rows: NDArray[Any]) -> list[bytes]:
        held = self.data.data
        starts, ends = self.ends[rows].tolist(), self.ends[rows + 1].tolist()
        return [bytes(held[start:end]) for start, end in zip(starts, ends, strict=True)]

    def values(self, rows: NDArray[Any]) -> list[Any]:
        loads = import_orjson().loads
        return [loads(token) for token in self.tokens(rows)]

    def replace(self, rows: NDArray[Any], tokens: Sequence[bytes]) -> JsonIds:
        import numpy as np

        every = self.tokens(np.arange(len(self)))
        for at, token in zip(rows.tolist(), tokens, strict=True):
            every[at] = token
        ends = np.zeros(len(every) + 1, np.int64)
        np.cumsum([len(token) for token in every], out=ends[1:])
        return JsonIds(np.frombuffer(b"".join(every), np.uint8), ends)

    def save(self, folder: Path) -> None:
        import numpy as np

        self.data.tofile(folder / TOKENS)
        np.save(folder / ENDS, self.ends)


@dataclass(frozen=True)
class ValueIds(Ids):
    held: list[Any]

    def __len__(self) -> int:
        return len(self.held)

    def slice(self, start: int, stop: int) -> ValueIds:
        return ValueIds(self.held[start:stop])

    def values(self, rows: NDArray[Any]) -> list[Any]:
        return [self.held[row] for row in rows.tolist()]

    def tokens(self, rows: NDArray[Any]) -> list[bytes]:
        dumps = import_orjson().dumps
        return [dumps(one) for one in self.values(rows)]

    def save(self, folder: Path) -> None:
        from pyarrow import parquet

        parquet.write_table(import_arrow().table({"id": self.held}), folder / VALUES)


def concat_ids(pieces: Sequence[Ids]) -> Ids:
    import numpy as np

    if not all(isinstance(piece, JsonIds) for piece in pieces):
        return ValueIds([one for piece in pieces for one in piece.values(np.arange(len(piece)))])
    tokens = [piece for piece in pieces if isinstance(piece, JsonIds)]
    befores = np.cumsum([0, *(len(piece.data) for piece in tokens)])
    ends = [piece.ends[1:] + before for piece, before in zip(tokens, befores, strict=False)]
    return JsonIds(np.concatenate([piece.data for piece in tokens]), np.concatenate([np.zeros(1, np.int64), *ends]))


def load_ids(folder: Path) -> Ids:
    import numpy as np

    if (folder / TOKENS).is_file():
        return JsonIds(np.memmap(folder / TOKENS, np.uint8, "r"), np.load(folder / ENDS, mmap_mode="r"))
    from pyarrow import parquet

    return ValueIds(parquet.read_table(folder / VALUES).column("id").to_pylist())
