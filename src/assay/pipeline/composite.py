from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from assay.pipeline.stage import Stage

In = TypeVar("In")
Out = TypeVar("Out")


class CompositeStage(Stage[In, Out]):
    """Several stages under one name. A pipeline replaces it with what it expands to."""

    @abstractmethod
    def expand(self) -> Sequence[Stage[Any, Any]]: ...

    def process(self, data: In) -> Out:
        raise TypeError(f"{self.name} is composite: a pipeline runs the stages it expands to")


def expand_stages(stages: Iterable[Stage[Any, Any]]) -> list[Stage[Any, Any]]:
    flat: list[Stage[Any, Any]] = []
    for stage in stages:
        flat.extend(expand_stages(stage.expand()) if isinstance(stage, CompositeStage) else [stage])
    return flat
