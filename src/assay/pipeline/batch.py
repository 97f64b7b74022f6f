from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self


class Batch(ABC):
    """Rows that travel together. How they are held is each family's own: columns, Arrow, or raw bytes.

    Nothing here makes one Python object per row, and nothing on a hot path should.
    """

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def slice(self, start: int, stop: int) -> Self: ...

    @classmethod
    @abstractmethod
    def concat(cls, batches: Sequence[Self]) -> Self: ...


@dataclass(frozen=True)
class ColumnBatch(Batch):
    """Named columns of equal length: lists, numpy arrays, or anything else that has a length and can be sliced."""

    columns: Mapping[str, Sequence[Any]]

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns of a batch differ in length: {lengths}")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> Sequence[Any]:
        return self.columns[name]

    def with_column(self, name: str, values: Sequence[Any]) -> Self:
        return type(self)({**self.columns, name: values})

    def rows(self) -> Iterator[dict[str, Any]]:
        names = list(self.columns)
        for values in zip(*self.columns.values(), strict=True):
            yield dict(zip(names, values, strict=True))

    def slice(self, start: int, stop: int) -> Self:
        return type(self)({name: column[start:stop] for name, column in self.columns.items()})

    @classmethod
    def concat(cls, batches: Sequence[Self]) -> Self:
        if len(batches) == 1:
            return batches[0]
        return cls({name: [v for batch in batches for v in batch[name]] for name in batches[0].columns})
