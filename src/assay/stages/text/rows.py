from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from assay.errors import DataError, MissingExtra
from assay.names import unknown
from assay.pipeline import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray


def import_arrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("pyarrow", "pipeline") from None
    return pyarrow


def import_orjson() -> Any:
    try:
        import orjson
    except ImportError:
        raise MissingExtra("orjson", "text") from None
    return orjson


class Rows(Batch):
    """Documents, as they stand in their file."""

    @abstractmethod
    def columns(self, *names: str) -> list[list[Any]]:
        """Fields of every row. A row without one is an error that names the row."""

    def column(self, name: str) -> list[Any]:
        return self.columns(name)[0]

    @abstractmethod
    def keep(self, mask: NDArray[Any]) -> Self:
        """The rows where `mask` is true."""

    @abstractmethod
    def table(self) -> Any:
        """As an Arrow table."""


@dataclass(frozen=True)
class JsonLines(Rows):
    """Lines of JSON, kept as bytes: a row that passes through is never written anew."""

    lines: list[bytes]
    """Without their line ends; no blank ones."""
    where: str = ""
    numbers: Sequence[int] = ()
    """Of the lines in the file, for messages."""

    def __len__(self) -> int:
        return len(self.lines)

    def slice(self, start: int, stop: int) -> Self:
        return type(self)(self.lines[start:stop], self.where, self.numbers[start:stop])

    @classmethod
    def concat(cls, batches: Sequence[Self]) -> Self:
        lines = [line for batch in batches for line in batch.lines]
        return cls(lines, batches[0].where, [number for batch in batches for number in batch.numbers])

    def columns(self, *names: str) -> list[list[Any]]:
        found: list[list[Any]] = [[] for _ in names]
        for at, row in enumerate(self._rows()):
            for name, values in zip(names, found, strict=True):
                if name not in row:
                    raise DataError(f"{self.where}:{self.numbers[at]}: {name}: the row has no such field")
                values.append(row[name])
        return found

    def keep(self, mask: NDArray[Any]) -> Self:
        kept = mask.nonzero()[0].tolist()
        return type(self)([self.lines[at] for at in kept], self.where, [self.numbers[at] for at in kept])

    def table(self) -> Any:
        rows = list(self._rows())
        try:
            return import_arrow().Table.from_pylist(rows)
        except import_arrow().ArrowException as error:
            raise DataError(f"{self.where}: its rows do not fit one table: {error}") from None

    def _rows(self) -> Iterator[dict[str, Any]]:
        orjson = import_orjson()
        for at, line in enumerate(self.lines):
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise DataError(f"{self.where}:{self.numbers[at]}: not JSON: {error}") from None
            if not isinstance(row, dict):
                raise DataError(f"{self.where}:{self.numbers[at]}: not a JSON object")
            yield row


@dataclass(frozen=True)
class ArrowRows(Rows):
    """An Arrow table: rows of a Parquet file, or text taken from pages."""

    held: Any
    where: str = ""

    def __len__(self) -> int:
        return int(self.held.num_rows)

    def slice(self, start: int, stop: int) -> Self:
        return type(self)(self.held.slice(start, stop - start), self.where)

    @classmethod
    def concat(cls, batches: Sequence[Self]) -> Self:
        return cls(import_arrow().concat_tables([batch.held for batch in batches]), batches[0].where)

    def columns(self, *names: str) -> list[list[Any]]:
        for name in names:
            if name not in self.held.column_names:
                raise DataError(f"{self.where}: {unknown('column', name, self.held.column_names)}")
        return [self.held.column(name).to_pylist() for name in names]

    def keep(self, mask: NDArray[Any]) -> Self:
        return type(self)(self.held.filter(import_arrow().array(mask)), self.where)

    def table(self) -> Any:
        return self.held
