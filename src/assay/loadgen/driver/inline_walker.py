"""A query's way through a graph whose stages all run in this thread, one query at a time.

It does what `Walker` does for workers that share a graph, but without locks, and it looks at the edges before the first
query: most hand a payload on unconditionally, and only the others ask `Conditions`. A stage begins where the one before
it ended, so its row shares that reading, unless a payload was copied in between.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from time import monotonic_ns
from typing import Any

from assay.loadgen.driver.ending import StageFailed, branch_payloads, first_reached
from assay.loadgen.driver.pacing import Turn
from assay.loadgen.graph import Graph, Node
from assay.loadgen.shared_counters import (
    COMPLETED,
    CUT,
    DROPPED,
    ERROR,
    FAILED,
    HEAD,
    IGNORED,
    OK,
    PIPELINE,
    PLACES,
    ROW,
    TAIL,
    Board,
)
from assay.names import unknown
from assay.pipeline.stage import Routed, StreamStage


class InlineStep:
    """A stage of an inline graph with all that is known of its edges before the first query.

    An output is free if a payload that comes to it always runs: nothing bounds its visits, and it waits for no other
    branch.
    """

    __slots__ = (
        "by_word",
        "ends",
        "entering",
        "free",
        "free_by_word",
        "id",
        "join",
        "max_visits",
        "merge",
        "name",
        "only",
        "outputs",
        "place",
        "process",
        "rank",
        "recorded",
        "share",
        "stream",
    )

    def __init__(self, node: Node, graph: Graph, rank: int) -> None:
        self.id = node.id
        self.name = node.shape.name
        self.place = node.id + 1
        self.process: Callable[[Any], Any] = node.stage.process
        self.stream = node.stage if isinstance(node.stage, StreamStage) else None
        self.recorded = node.recorded
        self.share = node.share
        self.ends = node.id in graph.outputs
        self.join = node.join
        self.max_visits = node.max_visits
        self.entering = frozenset(graph.shape.entering(node.id))
        self.rank = rank
        self.outputs: tuple[InlineStep, ...] = ()

    def lead_to(self, outputs: tuple[InlineStep, ...], ids: dict[str, int]) -> None:
        self.outputs = outputs
        self.by_word: dict[int | str, InlineStep] = {step.id: step for step in outputs}
        self.by_word |= {name: self.by_word[id] for name, id in ids.items() if id in self.by_word}
        self.free_by_word = {word: step for word, step in self.by_word.items() if step.is_free}
        self.free = all(step.is_free for step in outputs)
        self.only = outputs[0] if len(outputs) == 1 and self.free else None
        """The step that follows, whatever happens."""
        merges = len(outputs) == 1 and outputs[0].join == "merge" and outputs[0].max_visits is None
        self.merge = outputs[0] if merges else None

    @property
    def is_free(self) -> bool:
        return self.max_visits is None and self.join in (None, "each")


def inline_steps(graph: Graph) -> dict[int, InlineStep]:
    ranks = first_reached(graph)
    steps = {node.id: InlineStep(node, graph, ranks[node.id]) for node in graph.nodes}
    ids = {name: id for id, name in graph.names.items()}
    for node in graph.nodes:
        steps[node.id].lead_to(tuple(steps[target] for target in node.outputs), ids)
    return steps


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


class InlineWalker:
    def __init__(
        self,
        graph: Graph,
        board: Board,
        samples: int | None,
        max_failures: int = 0,
        keep: Callable[[int, Any], None] | None = None,
    ) -> None:
        steps = inline_steps(graph)
        self._inputs = [steps[stage] for stage in graph.inputs]
        self._board = board
        self._samples = samples
        self._max_failures = max_failures
        self._keep = keep

    def run(self, turns: Iterable[Turn], queued: bool) -> None:
        """`queued`: queries were sent elsewhere and waited; otherwise one begins at the instant it is sent."""
        clock, pack, size = monotonic_ns, ROW.pack_into, ROW.size
        board, samples, keep, inputs = self._board, self._samples, self._keep, self._inputs
        page, rows, capacity = board.page, board.rows, board.capacity
        in_query, in_stage, ring = PLACES, PLACES + 1, capacity * size - 1
        conditions = Conditions(page)
        ready, waiting, seen, visits = conditions.ready, conditions.waiting, conditions.seen, conditions.visits
        start = inputs[0] if len(inputs) == 1 and inputs[0].is_free else None
        head = page[HEAD]
        limit = page[TAIL] + capacity
        step: InlineStep
        for query, intended, sent in turns:
            payload: Any = query if samples is None else query % samples
            page[in_query] = query
            now = clock() if queued else sent
            failure: StageFailed | None = None
            results: list[Any] = []
            if start is not None:
                step = start
            else:
                conditions.deliver(None, inputs, payload, share=False)
                if not ready:
                    conditions.merge_earliest()
                step, payload = ready.popleft()
            while True:
                begin = now
                page[in_stage] = step.place
                first = items = 0
                try:
                    result = step.process(payload)
                    if step.stream is not None:
                        collected = []
                        for item in result:
                            first = first or clock()
                            collected.append(item)
                        items, result = len(collected), step.stream.collected(collected)
                    status = OK
                except Exception as error:  # noqa: BLE001  (a stage may raise anything)
                    failure = StageFailed(query, step.id, step.name, error)
                    status = ERROR
                now = clock()
                if step.recorded:
                    if head >= limit:
                        limit = page[TAIL] + capacity
                    if head < limit:
                        pack(rows, head * size & ring, query, step.id, intended, begin, now, first, items, status)
                        head += 1
                        page[HEAD] = head
                    else:
                        page[DROPPED] += 1
                if status:
                    break
                follows = step.only
                if isinstance(result, Routed):
                    payload, to = result.payload, result.to
                    follows = step.free_by_word.get(to[0]) if len(to) == 1 else None
                    if follows is None:
                        try:
                            conditions.route(step, to, payload)
                        except ValueError as error:
                            failure = StageFailed(query, step.id, step.name, error)
                            break
                        now = clock()
                    if step.ends and keep is not None:
                        results.append(payload)
                else:
                    payload = result
                    if step.ends and keep is not None:
                        results.append(payload)
                    merge = step.merge
                    if merge is not None:
                        came = waiting.get(merge)
                        if came is None:
                            came = waiting[merge] = {}
                        came[step.id] = payload
                        if came.keys() == merge.entering:
                            del waiting[merge]
                            follows, payload = merge, came
                    elif follows is None and step.outputs:
                        if step.free:
                            branches = branch_payloads(payload, len(step.outputs), step.share)
                            ready.extend(zip(step.outputs, branches, strict=True))
                        else:
                            conditions.deliver(step.id, step.outputs, payload, step.share)
                        now = clock()
                if follows is not None:
                    if not ready:
                        step = follows
                        continue
                    ready.append((follows, payload))
                if not ready:
                    if not waiting:
                        break
                    conditions.merge_earliest()
                step, payload = ready.popleft()
            page[in_stage] = 0
            if head >= limit:
                limit = page[TAIL] + capacity
            if head < limit:
                status = OK if failure is None else ERROR
                pack(rows, head * size & ring, query, PIPELINE, intended, sent, now, 0, 0, status)
                head += 1
                page[HEAD] = head
            else:
                page[DROPPED] += 1
            if seen or visits or failure is not None:
                conditions.clear()
            if failure is None:
                page[COMPLETED] += 1
                if keep is not None:
                    keep(query, results[0] if len(results) == 1 else tuple(results))
            else:
                page[FAILED] += 1
                if page[FAILED] > self._max_failures:
                    raise failure
