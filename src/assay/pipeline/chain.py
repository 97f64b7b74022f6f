from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from assay.errors import AssayError
from assay.pipeline.source import Batch, Source, Split
from assay.pipeline.stage import Stage, StageFailure, StreamStage, Worker
from assay.pipeline.writer import Collector
from assay.record.task import TaskPerf

T = TypeVar("T")


@dataclass
class StageClock:
    """A stage's own time on a split. What it waits for from the stage before it is not counted."""

    stage: str
    wall: float = 0.0
    cpu: float = 0.0
    calls: int = 0
    rows_in: int = 0
    rows_out: int = 0

    def start(self) -> None:
        self._cpu = time.process_time()
        self._wall = time.perf_counter()

    def stop(self) -> None:
        self.wall += time.perf_counter() - self._wall
        self.cpu += time.process_time() - self._cpu

    def perf(self) -> TaskPerf:
        counted = {"calls": self.calls, "rows_in": self.rows_in, "rows_out": self.rows_out}
        return TaskPerf(self.stage, {"process_time": self.wall, "cpu_time": self.cpu, **counted})


class Step:
    """One stage on one worker: gives it batches of the size it asked for, times it, names it when it fails."""

    def __init__(self, stage: Stage[Any, Any]) -> None:
        self.stage = stage

    def setup(self, worker: Worker) -> None:
        self.stage.setup(worker)

    def teardown(self) -> None:
        self.stage.teardown()

    def apply(self, payloads: Iterable[Any], split: Split, clock: StageClock) -> Iterator[Any]:
        """The stage's results for the payloads of a split; a collector gives exactly one."""
        if self.stage.batch_size is not None:
            payloads = rebatch(payloads, self.stage.batch_size)
        if isinstance(self.stage, Collector):
            yield self._collect(self.stage, payloads, split, clock)
            return
        for payload in payloads:
            clock.calls += 1
            clock.rows_in += rows(payload)
            produced = _time_call(self.stage.process, (payload,), split, clock)
            if not isinstance(self.stage, StreamStage):
                clock.rows_out += rows(produced)
                yield produced
                continue
            for item in time_items(produced, split, clock):
                clock.rows_out += rows(item)
                yield item

    def _collect(
        self, stage: Collector[Any, Any], payloads: Iterable[Any], split: Split, clock: StageClock
    ) -> Any:  # fmt: skip
        try:
            _time_call(stage.begin, (split,), split, clock)
            for payload in payloads:
                clock.calls += 1
                clock.rows_in += rows(payload)
                _time_call(stage.process, (payload,), split, clock)
            return _time_call(stage.finish, (), split, clock)
        except BaseException:
            stage.abandon()
            raise


def read_batches(source: Source, split: Split, clock: StageClock) -> Iterator[Any]:
    for batch in time_items(_time_call(source.read, (split,), split, clock), split, clock):
        clock.calls += 1
        clock.rows_out += rows(batch)
        yield batch


def time_items(items: Iterable[T], split: Split, clock: StageClock) -> Iterator[T]:
    iterator = iter(items)
    end = object()
    while (item := _time_call(next, (iterator, end), split, clock)) is not end:
        yield item


def rows(payload: Any) -> int:
    return len(payload) if isinstance(payload, Batch) else 1


def rebatch(payloads: Iterable[Any], size: int) -> Iterator[Any]:
    """Batches of `size` rows, the last one of a split shorter. Payloads that are no batches pass as they come."""
    waiting: list[Any] = []
    held = 0
    for payload in payloads:
        if not isinstance(payload, Batch):
            yield payload
            continue
        waiting.append(payload)
        held += len(payload)
        if held < size:
            continue
        joined = type(payload).concat(waiting)
        whole = held - held % size
        for start in range(0, whole, size):
            yield joined.slice(start, start + size)
        waiting = [joined.slice(whole, held)] if whole < held else []
        held -= whole
    if waiting:
        yield type(waiting[0]).concat(waiting)


def _time_call(call: Any, args: tuple[Any, ...], split: Split, clock: StageClock) -> Any:
    clock.start()
    try:
        return call(*args)
    except AssayError:
        raise
    except Exception as error:
        raise StageFailure.at(clock.stage, split, error) from error
    finally:
        clock.stop()


@dataclass(frozen=True)
class SplitResult:
    """What a split came to: the last stage's results (one, if that is a collector) and each stage's time on it."""

    index: int
    outputs: tuple[Any, ...]
    tasks: tuple[TaskPerf, ...]


class Chain:
    """A source and its stages on one worker: batches flow through all of them, one at a time."""

    def __init__(self, source: Source, stages: Sequence[Stage[Any, Any]]) -> None:
        self.source = source
        self.steps = [Step(stage) for stage in stages]

    def setup(self, worker: Worker) -> None:
        for step in self.steps:
            step.setup(worker)

    def teardown(self) -> None:
        for step in self.steps:
            step.teardown()

    def run(self, split: Split) -> SplitResult:
        outputs, tasks = run_steps(self.source, self.steps, split)
        return SplitResult(split.index, outputs, tasks)


def run_steps(
    source: Source | None, steps: Sequence[Step], split: Split, payloads: Iterable[Any] = ()
) -> tuple[tuple[Any, ...], tuple[TaskPerf, ...]]:
    """Takes a split through the steps; returns the last one's results, and the time of each. Without a source,
    `payloads` are what the steps before these made of the split."""
    clocks: list[StageClock] = []
    flow: Iterator[Any] = iter(payloads)
    if source is not None:
        clocks.append(StageClock(source.name))
        flow = read_batches(source, split, clocks[-1])
    for step in steps:
        clocks.append(StageClock(step.stage.name))
        flow = step.apply(flow, split, clocks[-1])
    outputs = tuple(flow)
    return outputs, tuple(clock.perf() for clock in clocks)
