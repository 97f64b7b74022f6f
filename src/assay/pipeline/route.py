from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from assay.pipeline.stage import Stage

In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(frozen=True, slots=True)
class Routed(Generic[Out]):
    """A payload and the stages it goes to next, by id or name: any of the outputs of the stage that returns it."""

    payload: Out
    to: tuple[int | str, ...]


class RouterStage(Stage[In, Routed[Out]]):
    """Decides which of its outputs a payload takes. Only graphs of stages have more than one."""
