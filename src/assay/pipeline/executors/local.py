from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from assay.errors import UsageError
from assay.pipeline.chain import Chain, SplitResult
from assay.pipeline.executors.executor import Executor
from assay.pipeline.resources import Worker
from assay.pipeline.split import Split

if TYPE_CHECKING:
    from assay.pipeline.pipeline import Pipeline


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
        from assay.pipeline.executors.worker_pool import WorkerPool

        return WorkerPool(pipeline.chain(), workers).run(splits)


def _in_process(chain: Chain, splits: Sequence[Split]) -> Iterator[SplitResult]:
    chain.setup(Worker())
    try:
        for split in splits:
            yield chain.run(split)
    finally:
        chain.teardown()
