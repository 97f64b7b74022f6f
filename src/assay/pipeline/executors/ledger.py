from __future__ import annotations

from typing import Any

from assay.errors import AssayError
from assay.pipeline.chain import SplitResult


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
