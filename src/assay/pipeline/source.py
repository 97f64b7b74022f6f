"""Files that may be compressed, told by the end of their name: `.gz` and `.zst`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Self, cast

from assay.errors import MissingExtra


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


@dataclass(frozen=True)
class FileRange:
    """The bytes `[start, end)` of a file; `end` None reaches to its end.

    For a file of lines, a line belongs to the range its first byte is in.
    """

    path: str
    start: int = 0
    end: int | None = None

    def __str__(self) -> str:
        if self.start == 0 and self.end is None:
            return self.path
        return f"{self.path} (bytes {self.start} to {'the end' if self.end is None else self.end})"


@dataclass(frozen=True)
class Split:
    """The unit of work that goes to a worker. Results come back in the order of `index`, whoever did the work."""

    index: int
    ranges: tuple[FileRange, ...] = ()
    copies: int = 1
    """How often a worker goes through it, each time from bytes (`RepeatEntries`)."""

    def __str__(self) -> str:
        if not self.ranges:
            return f"split {self.index}"
        more = len(self.ranges) - 1
        return str(self.ranges[0]) + (f" and {more} more" if more else "")


ENDINGS = (".gz", ".zst")


def is_compressed(path: str) -> bool:
    return path.endswith(ENDINGS)


def decompress(raw: Any, path: str) -> IO[bytes]:
    """The content of an open file of this name. Closing it closes `raw`."""
    if path.endswith(".gz"):
        import gzip

        return cast(IO[bytes], gzip.GzipFile(fileobj=raw))
    if path.endswith(".zst"):
        try:
            import zstandard
        except ImportError:
            raise MissingExtra("zstandard", "pipeline") from None
        return cast(IO[bytes], zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True))
    return cast(IO[bytes], raw)


class Source(ABC):
    """Where a pipeline's data comes from: cut into splits by the driver, read by the workers.

    Splits depend on the input only, never on the executor or the number of workers, so that part files are the
    same wherever a pipeline runs. The constructor takes picklable configuration and does no I/O.
    """

    name: str = "source"
    provides: frozenset[str] = frozenset()
    """Columns of the batches it reads."""

    @abstractmethod
    def splits(self) -> Sequence[Split]: ...

    @abstractmethod
    def read(self, split: Split) -> Iterator[Any]:
        """Batches of a split, in order. Runs on a worker."""

    def describe(self) -> Sequence[str]:
        """The steps a person would name, for `Pipeline.describe`."""
        return (self.name,)
