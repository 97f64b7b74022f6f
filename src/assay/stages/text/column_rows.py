from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Self

from assay.stages.text.rows import Rows, import_arrow


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
