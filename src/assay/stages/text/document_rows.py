from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Self

from assay.errors import DataError, MissingExtra
from assay.names import unknown
from assay.pipeline import Batch


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
    def field_names(self) -> list[str]:
        """Names of the fields, of the first row where rows may differ."""

    @abstractmethod
    def without(self, mask: bytes | bytearray) -> Self:
        """The rows whose byte in `mask` is 0."""

    @abstractmethod
    def table(self) -> Any:
        """The rows as an Arrow table."""


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

    def field_names(self) -> list[str]:
        return list(self.held.column_names)

    def without(self, mask: bytes | bytearray) -> Self:
        import numpy as np

        return type(self)(self.held.filter(import_arrow().array(np.frombuffer(mask, np.uint8) == 0)), self.where)

    def table(self) -> Any:
        return self.held


@dataclass(frozen=True)
class ColumnRows(Rows):
    """Rows made by a stage, as columns of text: an Arrow table only where somebody asks for one."""

    held: Mapping[str, list[Any]]

    def __len__(self) -> int:
        return len(next(iter(self.held.values())))

    def slice(self, start: int, stop: int) -> Self:
        return type(self)({name: values[start:stop] for name, values in self.held.items()})

    @classmethod
    def concat(cls, batches: Sequence[Self]) -> Self:
        return cls({name: [one for batch in batches for one in batch.held[name]] for name in batches[0].held})

    def columns(self, *names: str) -> list[list[Any]]:
        return [self.held[name] for name in names]

    def with_column(self, name: str, values: list[Any]) -> Self:
        return type(self)({**self.held, name: values})

    def field_names(self) -> list[str]:
        return list(self.held)

    def without(self, mask: bytes | bytearray) -> Self:
        stay = [not gone for gone in mask]
        return type(self)({name: list(compress(values, stay)) for name, values in self.held.items()})

    def rows(self) -> Iterator[dict[str, Any]]:
        for values in zip(*self.held.values(), strict=True):
            yield dict(zip(self.held, values, strict=True))

    def table(self) -> Any:
        arrow = import_arrow()
        return arrow.table({name: arrow.array(values, arrow.string()) for name, values in self.held.items()})
