"""A rate that changes with time, by inversion: the k-th query is sent when the expected count reaches k.

With `poisson`, the counts are those of a unit-rate Poisson process instead of 0, 1, 2 …, which makes the result an
inhomogeneous Poisson process (Çinlar, Introduction to Stochastic Processes, 1975, ch. 4.7).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.errors import DataError
from assay.files.json_text import parse_json
from assay.files.reading import MB, TRACE, RegularFile, Unreadable
from assay.loadgen.schedulers.scheduler import BLOCK, Arrivals, LoadScheduler, PacedLoadScheduler, positive
from assay.names import unknown


class ConstantLoadScheduler(PacedLoadScheduler):
    def __init__(self, rate: float) -> None:
        super().__init__(rate)

    def paced(self, rng: np.random.Generator, rate: float) -> Iterator[Arrivals]:
        return evenly(rate)


def evenly(rate: float) -> Iterator[Arrivals]:
    for block in count():
        yield ((np.arange(BLOCK) + block * BLOCK) * (1e9 / rate)).astype(np.int64)


class GammaLoadScheduler(LoadScheduler):
    """Bursty traffic: gaps are gamma-distributed with a coefficient of variation `cv`.

    A cv of 1 is Poisson, above it queries come in bursts, below it they are more even.
    """

    def __init__(self, rate: float, cv: float = 2.0) -> None:
        self.rate: float = positive("rate", rate)
        self.cv = positive("cv", cv)

    def arrivals(self, rng: np.random.Generator) -> Iterator[Arrivals]:
        shape = 1 / self.cv**2
        last = 0.0
        while True:
            times = last + np.cumsum(rng.gamma(shape, 1e9 / self.rate / shape, BLOCK))
            last = float(times[-1])
            yield times.astype(np.int64)


class PoissonLoadScheduler(PacedLoadScheduler):
    """Independent users: gaps are exponential."""

    def __init__(self, rate: float) -> None:
        super().__init__(rate)

    def paced(self, rng: np.random.Generator, rate: float) -> Iterator[Arrivals]:
        last = 0.0
        while True:
            times = last + np.cumsum(rng.exponential(1e9 / rate, BLOCK))
            last = float(times[-1])
            yield times.astype(np.int64)


Floats = NDArray[np.float64]


class RampLoadScheduler(LoadScheduler):
    """A rate that goes linearly from one value to another in `seconds`, and ends there."""

    def __init__(self, start_rate: float, end_rate: float, seconds: float, poisson: bool = False) -> None:
        if start_rate < 0 or end_rate < 0 or start_rate + end_rate == 0:
            raise ValueError("start_rate and end_rate must not be negative, and one must be greater than 0")
        self.start_rate = start_rate
        self.end_rate = end_rate
        self.seconds: float = positive("seconds", seconds)
        self.poisson = poisson
        self.rate = (start_rate + end_rate) / 2

    def ends(self, counted: bool, timed: bool) -> bool:
        return True

    def arrivals(self, rng: np.random.Generator) -> Iterator[Arrivals]:
        total = (self.start_rate + self.end_rate) / 2 * self.seconds
        for counts in _counts(total, rng if self.poisson else None):
            yield (self._when(counts) * 1e9).astype(np.int64)

    def _when(self, counts: Floats) -> Floats:
        slope = (self.end_rate - self.start_rate) / self.seconds
        root = np.sqrt(np.maximum(self.start_rate**2 + 2 * slope * counts, 0.0))
        # The quadratic's stable form: no cancellation when the slope is small.
        return np.asarray(2 * counts / np.maximum(self.start_rate + root, 1e-300))


def _counts(total: float, rng: np.random.Generator | None) -> Iterator[Floats]:
    last = 0.0
    while last < total:
        if rng is None:
            counts = last + np.arange(BLOCK, dtype=np.float64)
            last += BLOCK
        else:
            counts = last + np.cumsum(rng.exponential(1.0, BLOCK))
            last = float(counts[-1])
        yield counts[counts < total]


class StepsLoadScheduler(LoadScheduler):
    """One rate after another: `steps: [{rate: 100, seconds: 10}, {rate: 200, seconds: 10}]`."""

    def __init__(self, steps: Sequence[Mapping[str, float]], poisson: bool = False) -> None:
        if not steps:
            raise ValueError("steps must not be empty")
        self.steps = []
        for number, step in enumerate(steps):
            if set(step) != {"rate", "seconds"}:
                raise ValueError(
                    f"steps[{number}] must have rate and seconds, not {', '.join(sorted(step)) or 'nothing'}"
                )
            self.steps.append(RampLoadScheduler(step["rate"], step["rate"], step["seconds"], poisson))
        self.seconds: float = sum(step.seconds for step in self.steps)
        self.rate = sum(step.start_rate * step.seconds for step in self.steps) / self.seconds

    def ends(self, counted: bool, timed: bool) -> bool:
        return True

    def arrivals(self, rng: np.random.Generator) -> Iterator[Arrivals]:
        begin = 0
        for step in self.steps:
            for block in step.arrivals(rng):
                yield begin + block
            begin += int(step.seconds * 1e9)


class OfflineLoadScheduler(PacedLoadScheduler):
    """Everything at once; evenly paced where a rate is given."""

    def __init__(self, rate: float | None = None) -> None:
        super().__init__(rate)

    def paced(self, rng: np.random.Generator, rate: float) -> Iterator[Arrivals]:
        return evenly(rate)


class ConcurrentLoadScheduler(LoadScheduler):
    """A closed loop: `concurrency` queries in flight, a new one sent when one is done."""

    def __init__(self, concurrency: int) -> None:
        if concurrency < 1:
            raise ValueError(f"concurrency must be at least 1, not {concurrency}")
        self.concurrency: int = concurrency

    def arrivals(self, rng: np.random.Generator) -> Iterator[Arrivals]:
        return iter(())


class SingleStreamLoadScheduler(ConcurrentLoadScheduler):
    """The next query is sent when the last one is done."""

    def __init__(self) -> None:
        super().__init__(1)


class MultiStreamLoadScheduler(ConcurrentLoadScheduler):
    """`streams` queries are sent at once; the next group when all of them are done."""

    grouped: ClassVar[bool] = True

    def __init__(self, streams: int = 8) -> None:
        super().__init__(streams)


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
