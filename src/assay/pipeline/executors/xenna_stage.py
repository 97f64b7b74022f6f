from __future__ import annotations

from typing import Any

from assay.pipeline.executors.envelope import Envelope, StageGroup
from assay.pipeline.executors.ray_cluster import import_ray
from assay.pipeline.resources import Worker
from assay.pipeline.split import Split


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
