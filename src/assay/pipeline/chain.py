from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from assay.pipeline.resources import Worker
from assay.pipeline.source import Source
from assay.pipeline.split import Split
from assay.pipeline.stage import Stage
from assay.pipeline.step import StageClock, Step, read_batches
from assay.record.task_perf import TaskPerf


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
