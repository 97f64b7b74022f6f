from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError, UsageError
from assay.names import Registry
from assay.pipeline.chain import Chain, SplitResult
from assay.pipeline.source import Split
from assay.pipeline.stage import Worker

if TYPE_CHECKING:
    from assay.pipeline.pipeline import Pipeline


class Executor(ABC):
    name: str

    @abstractmethod
    def run(self, pipeline: Pipeline) -> Iterator[SplitResult]:
        """Yields every split's result once, in the order of `pipeline.splits()`, which it asks once."""


EXECUTORS: Registry[Executor] = Registry(
    "executor",
    Executor,  # type: ignore[type-abstract]
    {
        "local": "assay.pipeline.executors.executor:LocalExecutor",
        "ray_data": "assay.pipeline.executors.ray_data:RayDataExecutor",
        "ray_actors": "assay.pipeline.executors.ray_actors:RayActorsExecutor",
        "xenna": "assay.pipeline.executors.xenna:XennaExecutor",
    },
)
"""Imported only when asked for: Ray takes seconds."""


def executor_named(name: str, **options: Any) -> Executor:
    """`options` go to the executor's constructor (`workers` is known to all of them)."""
    return EXECUTORS.find(name)(**options)


class Ledger:
    """What a run has finished, kept by an actor on the driver's node: it lives as long as the driver does.

    A split that is done twice is entered once.
    """

    def __init__(self) -> None:
        self._results: dict[int, SplitResult] = {}
        self._failures: dict[int, AssayError] = {}

    def enter(self, result: SplitResult) -> None:
        self._results.setdefault(result.index, result)

    def fail(self, index: int, error: AssayError) -> None:
        self._failures.setdefault(index, error)

    def indices(self) -> set[int]:
        return set(self._results)

    def failure(self) -> AssayError | None:
        """Failure of the earliest split that has one: what a run in order would have met."""
        return self._failures[min(self._failures)] if self._failures else None

    def take(self, index: int) -> SplitResult:
        return self._results.pop(index)


def start_ledger(ray: Any) -> Any:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(Ledger).options(num_cpus=0, scheduling_strategy=here).remote()


class LocalExecutor(Executor):
    """Runs in this process with one worker (the default), in forked worker processes with more; 0 is one a core."""

    name = "local"

    def __init__(self, workers: int | None = 1) -> None:
        if workers is not None and workers < 0:
            raise UsageError(f"--workers: {workers} is not a number of workers; 0 takes one a core")
        self.workers = len(os.sched_getaffinity(0)) if workers == 0 else (workers or 1)

    def run(self, pipeline: Pipeline) -> Iterator[SplitResult]:
        splits = pipeline.splits()
        # A stateful stage has one replica that sees everything in order, so there is nothing to share out.
        stateful = any(stage.stateful for stage in pipeline.stages)
        workers = 1 if stateful else min(self.workers, len(splits))
        if workers <= 1:
            return _in_process(pipeline.chain(), splits)
        from assay.pipeline.executors.ray_actors import WorkerPool

        return WorkerPool(pipeline.chain(), workers).run(splits)


def _in_process(chain: Chain, splits: Sequence[Split]) -> Iterator[SplitResult]:
    chain.setup(Worker())
    try:
        for split in splits:
            yield chain.run(split)
    finally:
        chain.teardown()
