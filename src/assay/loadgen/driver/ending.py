from __future__ import annotations

from collections import deque
from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from assay.loadgen.graph import Graph
from assay.loadgen.shared_counters import Board

UNCHANGING = (int, float, str, bytes, bool, complex, frozenset, type(None))


def branch_payloads(payload: Any, count: int, share: bool) -> list[Any]:
    """One payload a branch. The first keeps the object; a stage that changes what it was given must not change what
    its neighbours were given, so the others get copies, unless sharing was asked for or nothing can change."""
    if share or count <= 1 or isinstance(payload, UNCHANGING):
        return [payload] * count
    return [payload, *(deepcopy(payload) for _ in range(count - 1))]


class Flow:
    """One query on its way through a graph. `tokens` are the payloads delivered to stages that have not run yet."""

    __slots__ = ("failed", "intended", "query", "results", "seen", "sent", "tokens", "visits", "waiting")

    def __init__(self, query: int, intended: int, sent: int) -> None:
        self.query = query
        self.intended = intended
        self.sent = sent
        self.tokens = 0
        self.failed = False
        self.seen: set[int] = set()
        """Stages that take the first branch to come and have had it."""
        self.visits: dict[int, int] = {}
        self.waiting: dict[int, dict[int | None, Any]] = {}
        """Stages that merge, and what has come so far, by where it came from."""
        self.results: list[Any] = []


def first_reached(graph: Graph) -> dict[int, int]:
    """Rank of each stage: after all that lead to it, a cycle's edges back left out; what is not reached so comes
    last."""
    order: dict[int, int] = {}
    waiting = deque(graph.inputs)
    shape = graph.shape
    pending = {
        node.id: len([source for source in shape.entering(node.id) if source is not None]) for node in graph.nodes
    }
    while waiting:
        stage = waiting.popleft()
        if stage in order:
            continue
        order[stage] = len(order)
        for target in graph.node(stage).outputs:
            pending[target] -= 1
            if pending[target] <= 0:
                waiting.append(target)
    for node in graph.nodes:
        order.setdefault(node.id, len(order))
    return order


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
