from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from assay.loadgen.board import Board


class How(StrEnum):
    FINISHED = "finished"
    FAILED = "failed"
    TIMED_OUT = "timed out"
    KILLED = "killed"


@dataclass(frozen=True)
class Ending:
    """How a run of one pipeline ended, and, if badly, in which query and stage."""

    how: How
    reason: str = ""
    query: int | None = None
    stage: int | None = None

    @property
    def success(self) -> bool:
        return self.how is How.FINISHED

    def to_json(self) -> dict[str, Any]:
        return {"how": str(self.how), "reason": self.reason, "query": self.query, "stage": self.stage}

    @classmethod
    def from_json(cls, written: dict[str, Any]) -> Ending:
        return cls(How(written["how"]), written["reason"], written["query"], written["stage"])


class StageFailed(Exception):
    def __init__(self, query: int, stage: int, name: str, error: BaseException) -> None:
        self.query = query
        self.stage = stage
        text = str(error)
        what = f"{type(error).__name__}: {text}" if text else type(error).__name__
        super().__init__(f"{describe(query, stage, name)}: {what}")

    def ending(self) -> Ending:
        return Ending(How.FAILED, str(self), self.query, self.stage)


def describe(query: int, stage: int, name: str) -> str:
    number = f"query {query}" if query >= 0 else f"warm-up query {-query - 1}"
    return f"{number}, stage {stage} ({name})"


def where(board: Board, names: dict[int, str]) -> tuple[str, int | None, int | None]:
    """What a pipeline is in the middle of: in words, and as the numbers of query and stage."""
    places = board.places()
    if not places:
        return "between queries", None, None
    query, stage = min(places)
    words = describe(query, stage, names.get(stage, "?"))
    return f"in {words}" + (f" and {len(places) - 1} more" if len(places) > 1 else ""), query, stage
