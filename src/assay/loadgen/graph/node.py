from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from assay.loadgen.graph.shape import Join, StageShape
from assay.pipeline.stage import Stage

Place = Literal["inline", "thread", "process"]


@dataclass(frozen=True)
class Node:
    """A stage in its place in a graph."""

    id: int
    stage: Stage[Any, Any]
    name: str = ""
    outputs: tuple[int, ...] = ()
    join: Join | None = None
    max_visits: int | None = None
    share: bool = False
    """Whether all branches of a fan-out get the same object. Otherwise all but the first get a copy of what can
    change."""
    place: Place = "inline"
    workers: int = 1
    recorded: bool = True
    """False: no rows are written of this stage, and its time is counted for no stage."""

    @property
    def shape(self) -> StageShape:
        name = self.name or self.stage.name or type(self.stage).__name__
        return StageShape(
            self.id,
            name,
            self.outputs,
            self.join,
            self.max_visits,
            self.stage.stateful,
            self.workers,
            self.stage.uses,
            self.stage.ends_cycles,
            self.place == "process",
        )
