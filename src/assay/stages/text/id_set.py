from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assay.errors import DataError
from assay.native.json_fields import INTEGER, PLAIN
from assay.native.library import library
from assay.pipeline import Stage, Worker
from assay.stages.text.document_rows import Rows
from assay.stages.text.documents import JsonLines, document_files, read_documents

if TYPE_CHECKING:
    from assay.native.digests import IdTable


LARGEST = (1 << 63) - 1


class IdSet:
    """Ids to look up by the batch: whole numbers, or anything else that a JSON value or a cell of a table can be.

    Ids of JSON lines are looked up by compiled code as they stand in the file; what that leaves over, and all others,
    as Python values.
    """

    def __init__(self, ids: Sequence[Any]) -> None:
        self.numeric = bool(ids) and all(type(one) is int and -LARGEST <= one <= LARGEST for one in ids)
        self._numbers = array("q", sorted(ids)) if self.numeric else array("q")
        self._names = frozenset() if self.numeric else frozenset(one for one in ids if not _compound(one))
        self._table = self._compile(ids)

    def _compile(self, ids: Sequence[Any]) -> IdTable | None:
        if library() is None or not ids:
            return None
        from assay.native.digests import IdTable

        if self.numeric:
            return IdTable([b"%d" % one for one in ids], INTEGER)
        return IdTable([one.encode() for one in ids if isinstance(one, str)], PLAIN)

    def mark_listed(self, data: Rows, field: str, where: str) -> bytes | bytearray:
        """A byte for each row: 1 if its id is on the list, else 0."""
        found = data.fields(field) if isinstance(data, JsonLines) and self._table is not None else None
        if found is None or self._table is None or not isinstance(data, JsonLines):
            return self._contains(data.column(field), where)
        mask, left = self._table.find(data.block, *found.column(0))
        if left:
            from assay.native.digests import ASK

            rest = [at for at, known in enumerate(mask) if known == ASK]
            values = data.pick(rest).column(field)
            if rest[0] == 0:
                self._check_kind(values[0], where)
            for at, known in zip(rest, self._contains(values, where, check=False), strict=True):
                mask[at] = known
        return mask

    def _contains(self, ids: list[Any], where: str, check: bool = True) -> bytes:
        if check and ids:
            self._check_kind(ids[0], where)
        if not self.numeric:
            return bytes(not _compound(one) and one in self._names for one in ids)
        import numpy as np

        whole = [one if _whole(one) else None for one in ids]
        asked = np.array([one or 0 for one in whole], np.int64)
        numbers = np.frombuffer(self._numbers, np.int64)
        at = np.searchsorted(numbers, asked)
        at[at == len(numbers)] = 0
        known = (numbers[at] == asked) & np.array([one is not None for one in whole], bool)
        return bytes(known.astype(np.uint8))

    def _check_kind(self, one: Any, where: str) -> None:
        if (self.numeric or self._names) and isinstance(one, str) == self.numeric:
            kinds = ("text", "numbers") if self.numeric else ("numbers", "text")
            raise DataError(f"{where}: ids are {kinds[0]} here and {kinds[1]} in the list of ids to remove")


def _compound(one: Any) -> bool:
    return isinstance(one, list | dict)


def _whole(one: Any) -> bool:
    """Whether a value can equal one of the numbers: 7 and 7.0 do, in JSON as in Python."""
    return isinstance(one, int | float) and -LARGEST <= one <= LARGEST and one == int(one)


def load_ids(path: str, field: str) -> IdSet:
    """Ids from JSONL or Parquet files; a single column serves whatever its name."""
    ids: list[Any] = []
    for file in document_files(path):
        for rows in read_documents(str(file)):
            names = rows.field_names()
            ids.extend(rows.column(names[0] if len(names) == 1 else field))
    return IdSet(ids)


class RemoveById(Stage[Rows, Rows]):
    """Drops the rows whose id is on the list. The list is read once a worker."""

    name = "id_removal"

    def __init__(self, ids_path: str, id_field: str) -> None:
        self.ids_path = ids_path
        self.id_field = id_field
        self._ids: IdSet | None = None

    def setup(self, worker: Worker) -> None:
        self._ids = load_ids(self.ids_path, self.id_field)

    def process(self, data: Rows) -> Rows:
        assert self._ids is not None, "setup() comes first"
        where = getattr(data, "where", "")
        return data.without(self._ids.mark_listed(data, self.id_field, where))
