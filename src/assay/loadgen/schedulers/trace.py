from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from assay.errors import DataError
from assay.loadgen.schedulers.scheduler import Arrivals, LoadScheduler, positive
from assay.names import unknown
from assay.untrusted.json_text import parse_json
from assay.untrusted.read_limit import MB, TRACE
from assay.untrusted.regular_file import RegularFile
from assay.untrusted.unreadable import Unreadable


class TraceLoadScheduler(LoadScheduler):
    """Replays a file of send times, in seconds: one number a line, a CSV column, or a field of JSON lines.

    `speed` 2 replays twice as fast. The first query is sent at the start, whatever its time.
    """

    def __init__(self, path: str, column: str = "timestamp", speed: float = 1.0) -> None:
        self.path = path
        self.column = column
        self.speed = positive("speed", speed)

    def ends(self, counted: bool, timed: bool) -> bool:
        return True

    def arrivals(self, rng: np.random.Generator) -> Iterator[Arrivals]:
        seconds = np.fromiter((at for _, at in self._times()), np.float64)
        if len(seconds) == 0:
            raise DataError(f"{self.path}: the trace has no queries")
        yield ((seconds - seconds[0]) / self.speed * 1e9).astype(np.int64)

    def _times(self) -> Iterator[tuple[int, float]]:
        last = float("-inf")
        for line, word in self._words():
            try:
                at = float(str(word))
            except (TypeError, ValueError):
                raise DataError(f"{self.path}:{line}: {word!r} is not a time in seconds") from None
            if not at >= last or at == float("inf"):
                raise DataError(f"{self.path}:{line}: {word} comes before the query above it; sort the trace by time")
            last = at
            yield line, at

    def _words(self) -> Iterator[tuple[int, object]]:
        try:
            with RegularFile(Path(self.path), TRACE) as file:
                lines = (line.decode() for line in file.lines(MB))
                if self.path.endswith(".csv"):
                    yield from self._csv(csv.DictReader(lines))
                elif self.path.endswith(".jsonl"):
                    yield from self._jsonl(lines)
                else:
                    yield from ((number, line.strip()) for number, line in enumerate(lines, 1) if line.strip())
        except (FileNotFoundError, UnicodeDecodeError, csv.Error) as error:
            raise DataError(f"{self.path}: cannot be read: {error}") from None

    def _csv(self, reader: csv.DictReader[str]) -> Iterator[tuple[int, object]]:
        if self.column not in (reader.fieldnames or []):
            raise DataError(f"{self.path}:1: {unknown('column', self.column, reader.fieldnames or [])}")
        for row in reader:
            yield reader.line_num, row[self.column]

    def _jsonl(self, lines: Iterator[str]) -> Iterator[tuple[int, object]]:
        for number, line in enumerate(lines, 1):
            try:
                yield number, parse_json(line.encode(), f"{self.path}:{number}")[self.column]
            except (Unreadable, KeyError, TypeError):
                raise DataError(f"{self.path}:{number}: not an object with {self.column!r}") from None
