from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from assay.pipeline.chain import Chain, SplitResult
from assay.pipeline.executors.executor import Executor, executor_named
from assay.pipeline.source import Source, Split
from assay.pipeline.stage import PipelineError, Stage, expand_stages
from assay.pipeline.writer import Collector
from assay.record.task import TaskPerf


def describe(name: str, source: Source, stages: Sequence[Stage[Any, Any]]) -> str:
    """What will run, one line a stage: its name, what it is, what it asks for and adds."""
    table = [(step, type(source).__name__, "") for step in source.describe()]
    table += [(stage.name, type(stage).__name__, _asks(stage)) for stage in stages]
    widths = [max(len(row[column]) for row in table) for column in (0, 1)]
    lines = [f"{number:3} {a:{widths[0]}}  {b:{widths[1]}}  {c}".rstrip() for number, (a, b, c) in enumerate(table, 1)]
    return "\n".join([f"{name}:", *lines])


def _asks(stage: Stage[Any, Any]) -> str:
    words = [f"{stage.resources.cpus:g} cpu"]
    if stage.resources.gpus:
        words.append(f"{stage.resources.gpus:g} gpu")
    if stage.batch_size is not None:
        words.append(f"{stage.batch_size} rows a call")
    if stage.stateful:
        words.append("one replica, in order")
    if stage.adds:
        words.append("adds " + ", ".join(sorted(stage.adds)))
    return "; ".join(words)


@dataclass(frozen=True)
class PipelineResult:
    """Everything, in split order. Small when the last stage is a collector: one output a split."""

    outputs: list[Any]
    tasks: list[TaskPerf]


class Pipeline:
    """A source and a line of stages. Building it checks that the stages fit together."""

    def __init__(self, source: Source, stages: Sequence[Stage[Any, Any]], name: str = "pipeline") -> None:
        self.name = name
        self.source = source
        self.stages = expand_stages(stages)
        self.partition_s = 0.0
        """Seconds that the driver took to cut the source into splits, in the latest run."""
        self._check()

    def splits(self) -> Sequence[Split]:
        started = time.perf_counter()
        splits = self.source.splits()
        self.partition_s = time.perf_counter() - started
        return splits

    def chain(self) -> Chain:
        return Chain(self.source, self.stages)

    def describe(self) -> str:
        return describe(self.name, self.source, self.stages)

    def run(self, executor: Executor | str = "local") -> PipelineResult:
        result = PipelineResult([], [])
        for split in self.stream(executor):
            result.outputs.extend(split.outputs)
            result.tasks.extend(split.tasks)
        return result

    def stream(self, executor: Executor | str = "local") -> Iterator[SplitResult]:
        """Results as they are done, in split order, for a driver that keeps none of them."""
        return (executor_named(executor) if isinstance(executor, str) else executor).run(self)

    def _check(self) -> None:
        available = set(self.source.provides)
        seen = {self.source.name}
        for position, stage in enumerate(self.stages):
            if not stage.name:
                raise PipelineError(f"stage {position} of {self.name} ({type(stage).__name__}) has no name")
            if stage.name in seen:
                raise PipelineError(
                    f"{self.name} has two stages named {stage.name}; their times could not be told apart"
                )
            missing = stage.needs - available
            if missing:
                columns = ", ".join(sorted(missing))
                raise PipelineError(f"stage {stage.name} needs {columns}, which nothing before it in {self.name} adds")
            if isinstance(stage, Collector) and position < len(self.stages) - 1:
                raise PipelineError(f"stage {stage.name} collects a whole split, so it must be the last of {self.name}")
            seen.add(stage.name)
            available |= stage.adds
