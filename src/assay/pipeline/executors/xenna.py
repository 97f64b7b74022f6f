from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError, MissingExtra
from assay.pipeline.chain import SplitResult
from assay.pipeline.executors.envelope import Envelope, StageGroup, group_stages
from assay.pipeline.executors.executor import Executor, start_ledger
from assay.pipeline.executors.ray_connection import import_ray, ray_cluster
from assay.pipeline.source import Split
from assay.pipeline.stage import PipelineError, Worker

if TYPE_CHECKING:
    from assay.pipeline.pipeline import Pipeline


def xenna_stage(xenna: Any, group: StageGroup, ledger: Any, cpus: float, last: bool) -> Any:
    """A group of stages as cosmos-xenna wants it. Its base class is known only where it is installed."""

    class AssayStage(xenna.Stage):  # type: ignore[misc]
        @property
        def required_resources(self) -> Any:
            return xenna.Resources(cpus=cpus, gpus=group.gpus)

        def setup(self, worker_metadata: Any) -> None:
            failed = group.setup(Worker())
            if failed is not None:
                import_ray().get(ledger.fail.remote(-1, failed))
                raise failed

        def process_data(self, in_data: list[Any]) -> list[Any]:
            return [_one(item) for item in in_data]

    def _one(item: Split | Envelope) -> Any:
        envelope = Envelope(item) if isinstance(item, Split) else item
        done = group.run(envelope)
        if not isinstance(done, Envelope):
            # Told before it is raised: cosmos-xenna would report it in words of its own.
            import_ray().get(ledger.fail.remote(envelope.split.index, done))
            raise done
        if last:
            import_ray().get(ledger.enter.remote(done.result()))
            return None
        return done

    AssayStage.__name__ = group.name
    return AssayStage()


ATTEMPTS = 4


class XennaExecutor(Executor):
    """cosmos-xenna in streaming mode: every stage has workers of its own, as many as its speed calls for.

    cosmos-xenna gives up when a worker dies. So the last stage enters each split in a ledger beside the driver, and
    a run that broke is started again with the splits that are not in it.
    """

    name = "xenna"

    def __init__(self, workers: int | None = None) -> None:
        """`workers` of each stage; without it, cosmos-xenna decides as it measures their speed."""
        self.workers = workers or None

    def run(self, pipeline: Pipeline) -> Iterator[SplitResult]:
        try:
            import cosmos_xenna.pipelines.v1 as xenna
        except ImportError:
            raise MissingExtra("cosmos-xenna", "ray") from None
        splits = pipeline.splits()
        groups = group_stages(pipeline.source, pipeline.stages, fuse=False)
        _prepare()
        with ray_cluster(least_cpus=_least_cpus(groups, self.workers or 2)) as ray:
            ledger = start_ledger(ray)
            try:
                self._until_all_done(ray, xenna, ledger, groups, splits)
                for split in splits:
                    yield ray.get(ledger.take.remote(split.index))
            finally:
                ray.kill(ledger)

    def _until_all_done(
        self, ray: Any, xenna: Any, ledger: Any, groups: Sequence[StageGroup], splits: Sequence[Split]
    ) -> None:
        problem = "it returned before all was done"
        for _ in range(ATTEMPTS):
            entered = ray.get(ledger.indices.remote())
            missing = [split for split in splits if split.index not in entered]
            if not missing:
                return
            if len(missing) < len(splits) and any(group.stateful for group in groups):
                break
            try:
                xenna.run_pipeline(self._spec(ray, xenna, ledger, groups, missing))
            except Exception as error:  # noqa: BLE001  (cosmos-xenna raises what it meets; the ledger knows more)
                problem = (str(error).strip().splitlines() or [type(error).__name__])[-1]
            failure: AssayError | None = ray.get(ledger.failure.remote())
            if failure is not None:
                raise failure
        left = len(splits) - len(ray.get(ledger.indices.remote()))
        if left:
            raise PipelineError(f"cosmos-xenna left {left} of {len(splits)} splits undone: {problem}")

    def _spec(self, ray: Any, xenna: Any, ledger: Any, groups: Sequence[StageGroup], splits: Sequence[Split]) -> Any:

        alive = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        # As cosmos-xenna counts them: whole ones, of nodes that are alive.
        have = sum(int(resources.get("CPU", 0)) for resources in alive)
        asked = sum(group.cpus * (self.workers or 1) for group in groups)
        # Workers of all stages must fit at once: on a small cluster each asks for its share of a processor.
        scale = min(1.0, 0.9 * have / asked)
        silent = xenna.VerbosityLevel.NONE
        stages = [
            xenna.StageSpec(
                xenna_stage(xenna, group, ledger, group.cpus * scale, last=at == len(groups) - 1),
                num_workers=1 if group.stateful else self.workers,
                slots_per_actor=1 if group.stateful else None,
            )
            for at, group in enumerate(groups)
        ]
        return xenna.PipelineSpec(
            input_data=list(splits),
            stages=stages,
            config=xenna.PipelineConfig(
                cpu_allocation_percentage=1.0,
                # GPUs are hidden by an environment of the worker's own, for which Ray starts Python twice.
                clear_cuda_visible_devices_on_cpu_actors=any(resources.get("GPU") for resources in alive),
                actor_pool_verbosity_level=silent,
                monitoring_verbosity_level=silent,
                mode_specific=xenna.StreamingSpecificSpec(executor_verbosity_level=silent),
            ),
        )


def _least_cpus(groups: Sequence[StageGroup], workers: int) -> int:
    return max(8, int(workers * sum(group.cpus for group in groups)) + 1)


class _NoMonitor:
    """cosmos-xenna's own looks at every process of every node to print what they use. Nobody reads that here, it takes
    a processor of each node, needs Ray's dashboard server, and ends the run when a node does.
    """

    def __init__(self, *_: object) -> None: ...

    def __enter__(self) -> _NoMonitor:
        return self

    def __exit__(self, *_: object) -> None: ...

    def update(self, *_: object) -> bool:
        return False


def _prepare() -> None:
    """No monitor, and no log lines of its own, here or in the workers."""
    import cosmos_xenna.pipelines.private.monitoring as monitoring
    from loguru import logger

    monitoring.PipelineMonitor = _NoMonitor
    logger.disable("cosmos_xenna")
    # It calls ray.init again, which Ray remarks on.
    logging.getLogger("ray._private.worker").setLevel(logging.WARNING)
    os.environ.setdefault("LOGURU_LEVEL", "ERROR")
    os.environ.setdefault("RUST_LOG", "error")
