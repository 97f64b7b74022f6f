from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.errors import AssayError
from assay.pipeline.chain import SplitResult, Step, run_steps
from assay.pipeline.source import Source, Split
from assay.pipeline.stage import PipelineError, Stage, Worker, portable
from assay.record.task import TaskPerf


@dataclass(frozen=True)
class Envelope:
    """A split on its way from the workers of one group of stages to those of the next."""

    split: Split
    payloads: tuple[Any, ...] = ()
    tasks: tuple[TaskPerf, ...] = ()

    def result(self) -> SplitResult:
        return SplitResult(self.split.index, self.payloads, self.tasks)


class StageGroup:
    """Neighbouring stages that share their workers; the first group reads the source.

    A split goes through a group as a whole, so that batches are cut, and collectors filled, as in one process.
    """

    def __init__(self, source: Source | None, stages: Sequence[Stage[Any, Any]]) -> None:
        self.source = source
        self.steps = [Step(stage) for stage in stages]
        self.name = "+".join([*([source.name] if source else []), *(stage.name for stage in stages)])
        # A source reads: it needs a worker's processor like any stage.
        self.cpus = max([stage.resources.cpus for stage in stages], default=1.0)
        self.gpus = max([stage.resources.gpus for stage in stages], default=0.0)
        memory = [stage.resources.memory_mb for stage in stages if stage.resources.memory_mb is not None]
        self.memory_mb = max(memory, default=None)
        self.stateful = any(stage.stateful for stage in stages)
        self.due = 0

    def setup(self, worker: Worker) -> AssayError | None:
        try:
            for step in self.steps:
                step.setup(worker)
        except Exception as error:  # noqa: BLE001  (whatever it is, the driver must hear of it)
            return portable(error, f"stages {self.name} could not be set up")
        return None

    def run(self, envelope: Envelope) -> Envelope | AssayError:
        """Runs the stages. A failure is returned, not raised: it would reach the driver wrapped in Ray's own words."""
        try:
            if self.stateful:
                self._expect(envelope.split)
            return self._run(envelope)
        except Exception as error:  # noqa: BLE001  (as above)
            return portable(error, f"stages {self.name} failed on {envelope.split}")

    def _expect(self, split: Split) -> None:
        """Checks that a stateful stage gets its splits in order. Ray hands work out in order and starts dead workers
        anew; were it to do otherwise, or a worker to start anew without its state, every sum after that would be wrong
        and nothing would say so."""
        if split.index and not self.due:
            raise PipelineError(f"the worker of a stage that keeps state died, and its state with it, before {split}")
        if split.index != self.due:
            raise PipelineError(f"stages {self.name} keep state and were handed {split} out of turn")
        self.due += 1

    def _run(self, envelope: Envelope) -> Envelope:
        payloads, tasks = run_steps(self.source, self.steps, envelope.split, envelope.payloads)
        return Envelope(envelope.split, payloads, (*envelope.tasks, *tasks))

    def teardown(self) -> None:
        for step in self.steps:
            step.teardown()


def group_stages(source: Source, stages: Sequence[Stage[Any, Any]], fuse: bool) -> list[StageGroup]:
    """Stages by workers. With `fuse`, neighbours that ask for the same resources share workers; otherwise each has its
    own.

    A stateful stage must see the splits in order, which only one worker that does everything gives.
    """
    if any(stage.stateful for stage in stages):
        return [StageGroup(source, stages)]
    runs: list[list[Stage[Any, Any]]] = [[]]
    for stage in stages:
        alike = fuse and (not runs[-1] or runs[-1][-1].resources == stage.resources)
        if alike:
            runs[-1].append(stage)
        else:
            runs.append([stage])
    return [StageGroup(source if at == 0 else None, run) for at, run in enumerate(runs)]
