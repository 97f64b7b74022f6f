from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assay.errors import DataError
from assay.stages.text.document_files import document_files, read_documents

if TYPE_CHECKING:
    from numpy.typing import NDArray


class IdSet:
    """Ids to look up by the batch. Whole numbers are a sorted array (8 bytes each), anything else a Python set."""

    def __init__(self, ids: Sequence[Any]) -> None:
        import numpy as np

        self.numbers: NDArray[Any] | None = None
        self.names: frozenset[Any] = frozenset()
        if ids and all(type(one) is int for one in ids):
            self.numbers = np.unique(np.fromiter(ids, np.int64, len(ids)))
        else:
            self.names = frozenset(ids)

    def __len__(self) -> int:
        return len(self.names) if self.numbers is None else len(self.numbers)

    def contains(self, ids: list[Any], where: str) -> NDArray[Any]:
        import numpy as np

        if ids and len(self) and isinstance(ids[0], str) != (self.numbers is None):
            kinds = ("text", "numbers") if self.numbers is not None else ("numbers", "text")
            raise DataError(f"{where}: ids are {kinds[0]} here and {kinds[1]} in the list of ids to remove")
        if self.numbers is None:
            names = self.names
            return np.fromiter((one in names for one in ids), bool, len(ids))
        asked = np.array(ids, np.int64)
        at = np.searchsorted(self.numbers, asked)
        at[at == len(self.numbers)] = 0
        return np.asarray(self.numbers[at] == asked)


def load_ids(path: str, field: str) -> IdSet:
    """From JSONL or Parquet files; a single column serves whatever its name."""
    ids: list[Any] = []
    for file in document_files(path):
        for rows in read_documents(str(file)):
            table = rows.table()
            alone = table.num_columns == 1
            ids.extend(rows.column(table.column_names[0] if alone else field))
    return IdSet(ids)
