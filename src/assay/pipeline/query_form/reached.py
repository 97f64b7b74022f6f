from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.pipeline.stage import Stage


class Reached(Mapping[int, Any]):
    """Stages of a pipeline whose payloads are queries, as the authors of stages know them: without what is wrapped
    around them here."""

    def __init__(self, stages: Mapping[int, Stage[Any, Any]]) -> None:
        self._stages = stages

    def __getitem__(self, stage: int) -> Any:
        found = self._stages[stage]
        return getattr(found, "reached", found)

    def __iter__(self) -> Iterator[int]:
        return iter(self._stages)

    def __len__(self) -> int:
        return len(self._stages)
