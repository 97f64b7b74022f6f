from __future__ import annotations

from typing import Any


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
