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
    """At a fan-out, give every branch the same object. Otherwise all but the first get a copy of what can change."""
    place: Place = "inline"
    workers: int = 1
    recorded: bool = True
    """False: no rows are written of it, and its time is in no stage's."""

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
