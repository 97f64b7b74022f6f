"""A source of numbers and stages on it, for tests of the engine."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from assay.errors import DataError
from assay.pipeline import Collector, ColumnBatch, FileRange, Source, Split, Stage, StreamStage, Writer


class Numbers(Source):
    name = "numbers"
    provides = frozenset({"n"})

    def __init__(self, splits: int = 7, rows: int = 10, batch: int = 4) -> None:
        self.count, self.rows, self.batch = splits, rows, batch

    def splits(self) -> Sequence[Split]:
        return [Split(index, (FileRange(f"numbers-{index}.txt"),)) for index in range(self.count)]

    def read(self, split: Split) -> Iterator[ColumnBatch]:
        first = split.index * self.rows
        for start in range(0, self.rows, self.batch):
            yield ColumnBatch({"n": list(range(first + start, first + min(start + self.batch, self.rows)))})


class Square(Stage[ColumnBatch, ColumnBatch]):
    name = "square"
    needs = frozenset({"n"})
    adds = frozenset({"square"})

    def process(self, data: ColumnBatch) -> ColumnBatch:
        return data.with_column("square", [n * n for n in data["n"]])


class Even(Stage[ColumnBatch, ColumnBatch]):
    name = "even"
    needs = frozenset({"n"})

    def process(self, data: ColumnBatch) -> ColumnBatch:
        rows = [row for row in data.rows() if row["n"] % 2 == 0]
        return ColumnBatch({name: [row[name] for row in rows] for name in data.columns})


class Twice(StreamStage[ColumnBatch, ColumnBatch]):
    name = "twice"

    def process(self, data: ColumnBatch) -> Iterator[ColumnBatch]:
        yield data
        yield data


class FailOn(Stage[ColumnBatch, ColumnBatch]):
    name = "fail_on"

    def __init__(self, n: int, how: str) -> None:
        self.n, self.how = n, how

    def process(self, data: ColumnBatch) -> ColumnBatch:
        if self.n in data["n"]:
            if self.how == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.how == "data":
                raise DataError("numbers.txt:3: n: is odd")
            raise ZeroDivisionError("no such number")
        return data


class Sum(Collector[ColumnBatch, int]):
    name = "sum"

    def __init__(self, column: str = "n") -> None:
        self.column = column

    def begin(self, split: Split) -> None:
        self.total = 0

    def process(self, data: ColumnBatch) -> None:
        self.total += sum(data[self.column])

    def finish(self) -> int:
        return self.total


class TextWriter(Writer[ColumnBatch]):
    name = "text_writer"

    def write(self, data: ColumnBatch, out: BinaryIO) -> int:
        out.write("".join(f"{n}\n" for n in data["n"]).encode())
        return len(data)
