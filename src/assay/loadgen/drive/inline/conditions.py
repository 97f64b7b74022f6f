from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from assay.loadgen.board import CUT, IGNORED
from assay.loadgen.drive.branches import branch_payloads
from assay.loadgen.drive.inline.inline_step import InlineStep
from assay.names import unknown


class Conditions:
    """What one query has met on its way through an inline graph, and the edges whose use depends on it: bounded
    visits, merges, first-come joins. Emptied for the next query."""

    def __init__(self, page: memoryview) -> None:
        self._page = page
        self.ready: deque[tuple[InlineStep, Any]] = deque()
        self.waiting: dict[InlineStep, dict[int | None, Any]] = {}
        """Steps that merge, and what has come so far, by where it came from."""
        self.seen: set[InlineStep] = set()
        """Steps that take the first branch to come and have had it."""
        self.visits: dict[InlineStep, int] = {}

    def clear(self) -> None:
        self.ready.clear()
        self.waiting.clear()
        self.seen.clear()
        self.visits.clear()

    def route(self, step: InlineStep, words: Iterable[int | str], payload: Any) -> None:
        chosen = []
        for word in words:
            target = step.by_word.get(word)
            if target is None:
                raise ValueError(f"routed to an {unknown('output', word, [each.id for each in step.outputs])}")
            chosen.append(target)
        self.deliver(step.id, self._open(step, chosen), payload, step.share)

    def _open(self, step: InlineStep, chosen: list[InlineStep]) -> list[InlineStep]:
        """A stage that has had its last visit is closed: the query takes the first of the other outputs instead."""
        still = [target for target in chosen if not self._is_spent(target)]
        if still or not chosen:
            return still
        others = [target for target in step.outputs if target not in chosen and not self._is_spent(target)]
        if not others:
            raise ValueError(f"every output has had its last visit ({[each.id for each in step.outputs]})")
        self._page[CUT] += 1
        return others[:1]

    def deliver(self, source: int | None, targets: Sequence[InlineStep], payload: Any, share: bool) -> None:
        for target, mine in zip(targets, branch_payloads(payload, len(targets), share), strict=True):
            if self._is_spent(target):
                self._page[CUT] += 1
            elif target.join == "merge":
                came = self.waiting.setdefault(target, {})
                came[source] = mine
                if came.keys() == target.entering:
                    self._send(target, self.waiting.pop(target))
            elif target in self.seen and source in target.entering:
                self._page[IGNORED] += 1
            else:
                if target.join == "first":
                    self.seen.add(target)
                self._send(target, mine)

    def merge_earliest(self) -> None:
        """Lets the earliest step that waits run with what it has: no branch is left that could still come."""
        target = min(self.waiting, key=_rank)
        self._send(target, self.waiting.pop(target))

    def _send(self, target: InlineStep, payload: Any) -> None:
        if target.max_visits is not None:
            self.visits[target] = self.visits.get(target, 0) + 1
        self.ready.append((target, payload))

    def _is_spent(self, target: InlineStep) -> bool:
        return target.max_visits is not None and self.visits.get(target, 0) >= target.max_visits


def _rank(step: InlineStep) -> int:
    return step.rank
