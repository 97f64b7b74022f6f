from __future__ import annotations

import logging
import pickle
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError
from assay.pipeline.chain import SplitResult
from assay.pipeline.executors.envelope import Envelope, StageGroup, group_stages
from assay.pipeline.executors.executor import Executor
from assay.pipeline.executors.ray_connection import places, ray_cluster
from assay.pipeline.source import Split
from assay.pipeline.stage import PipelineError, Worker

if TYPE_CHECKING:
    from assay.pipeline.pipeline import Pipeline


class RayDataExecutor(Executor):
    """A Ray Dataset of split numbers through `map_batches`, one a group of stages that ask for the same resources.

    Only numbers leave the driver and only results come back. Between groups a split travels as pickled bytes, so
    that Ray Data need not understand it. Ray Data itself repeats what was lost with a worker or node.
    """

    name = "ray_data"

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or None

    def run(self, pipeline: Pipeline) -> Iterator[SplitResult]:
        splits = pipeline.splits()
        groups = group_stages(pipeline.source, pipeline.stages, fuse=True)
        if not splits:
            return
        with ray_cluster(least_cpus=max(self.workers or 1, len(groups))) as ray:
            import ray.data as ray_data

            with _quiet(ray_data):
                # A block a split keeps them independent: a lost one is repeated alone.
                dataset = ray_data.range(len(splits), override_num_blocks=len(splits))
                for group in groups:
                    size = self._pool_size(ray, group, len(groups), len(splits))
                    dataset = _map(ray_data, dataset, group, splits if group.source else None, size)
                yield from _results(dataset, len(splits))

    def _pool_size(self, ray: Any, group: StageGroup, groups: int, splits: int) -> int:
        if group.stateful:
            return 1
        return min(self.workers or max(1, places(ray, group.cpus, group.gpus) // groups), splits)


def _map(ray_data: Any, dataset: Any, group: StageGroup, splits: Sequence[Split] | None, size: int) -> Any:
    """The data set mapped by a group. By tasks where they will do: what a lost node was doing then goes to any other,
    while the calls of an actor wait until that actor has found a new place. By actors where set-up is dear (a model on
    a GPU) or state is kept.
    """
    asks: dict[str, Any] = {"num_cpus": group.cpus, "num_gpus": group.gpus}
    if group.memory_mb is not None:
        asks["memory"] = group.memory_mb << 20
    if group.stateful:
        # By default Ray Data lets an actor begin with whichever call has its input first.
        asks["allow_out_of_order_execution"] = False
    if group.gpus or group.stateful:
        pool = ray_data.ActorPoolStrategy(size=size)
        made = (group, splits, size)
        return dataset.map_batches(GroupWorker, fn_constructor_args=made, batch_size=None, compute=pool, **asks)
    pool = ray_data.TaskPoolStrategy(size=size)
    work = GroupTask(uuid.uuid4().hex, group, splits, size)
    return dataset.map_batches(work.run, batch_size=None, compute=pool, **asks)


class GroupWorker:
    """Split numbers or pickled envelopes in, pickled envelopes out."""

    def __init__(self, group: StageGroup, splits: Sequence[Split] | None, count: int) -> None:
        self.group = group
        self.splits = splits
        self.failed = group.setup(Worker(count=count))

    def __call__(self, block: dict[str, Any]) -> dict[str, list[bytes]]:
        return {"envelope": [self._one(item) for item in next(iter(block.values()))]}

    def _one(self, item: Any) -> bytes:
        if self.failed is not None:
            return pickle.dumps(self.failed)
        if self.splits is not None:
            envelope: Envelope | AssayError = Envelope(self.splits[int(item)])
        else:
            envelope = pickle.loads(item)  # noqa: S301  (our own bytes, from the group before)
        if isinstance(envelope, Envelope):
            envelope = self.group.run(envelope)
        return pickle.dumps(envelope, protocol=5)


@dataclass(frozen=True)
class GroupTask:
    """The same as a function. Ray keeps the processes of tasks, so each sets up once and remembers."""

    key: str
    group: StageGroup
    splits: Sequence[Split] | None
    count: int

    def run(self, block: dict[str, Any]) -> dict[str, list[bytes]]:
        if self.key not in _SET_UP:
            _SET_UP[self.key] = GroupWorker(self.group, self.splits, self.count)
        return _SET_UP[self.key](block)


_SET_UP: dict[str, GroupWorker] = {}


class _quiet:
    """Results in order, no progress bars, no log lines; the settings of whoever else uses Ray Data come back."""

    def __init__(self, ray_data: Any) -> None:
        self.context = ray_data.DataContext.get_current()
        self.logger = logging.getLogger("ray.data")

    def __enter__(self) -> None:
        self.before = (
            self.context.execution_options.preserve_order,
            self.context.enable_progress_bars,
            self.logger.level,
        )
        self.context.execution_options.preserve_order = True
        self.context.enable_progress_bars = False
        self.logger.setLevel(logging.ERROR)

    def __exit__(self, *_: object) -> None:
        (
            self.context.execution_options.preserve_order,
            self.context.enable_progress_bars,
            level,
        ) = self.before
        self.logger.setLevel(level)


def _results(dataset: Any, count: int) -> Iterator[SplitResult]:
    due = 0
    for block in dataset.iter_batches(batch_size=None, prefetch_batches=1):
        for written in block["envelope"]:
            envelope = pickle.loads(written)  # noqa: S301  (our own bytes, from our own workers)
            if isinstance(envelope, AssayError):
                raise envelope
            if envelope.split.index != due:
                raise PipelineError(f"Ray Data returned split {envelope.split.index} where {due} was due")
            yield envelope.result()
            due += 1
    if due < count:
        raise PipelineError(f"Ray Data returned {due} of {count} splits")
