"""A query's way through a graph that is more than a chain: fan-out, fan-in, routers, cycles, streams, workers.

Tokens move along edges as in a data-flow machine (Dennis, "First version of a data flow procedure language", 1974). A
stage that merges waits for every branch that can still come; when no token of the query is left moving, the earliest
such stage runs with what it has, so a router that never chose a branch cannot leave a query waiting for ever.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from queue import SimpleQueue
from threading import Lock
from time import monotonic_ns
from typing import Any

from assay.loadgen.driver.ending import Flow, StageFailed, branch_payloads, first_reached
from assay.loadgen.graph import Graph, Node
from assay.loadgen.shared_counters import COMPLETED, CUT, ERROR, FAILED, IGNORED, OK, PIPELINE, PLACES, STOP, Board
from assay.names import unknown
from assay.pipeline.stage import Routed, Stage, StreamStage

Ready = deque[tuple[Node, Any]]
Queue = SimpleQueue[tuple[Flow, Any] | None]


class Walker:
    def __init__(
        self,
        graph: Graph,
        board: Board,
        queues: dict[int, Queue],
        max_failures: int = 0,
        keep: Callable[[int, Any], None] | None = None,
        done: Callable[[], None] = lambda: None,
    ) -> None:
        self._nodes = {node.id: node for node in graph.nodes}
        self._ids = {name: id for id, name in graph.names.items()}
        self._inputs = graph.inputs
        self._outputs = frozenset(graph.outputs)
        shape = graph.shape
        self._entering = {node.id: frozenset(shape.entering(node.id)) for node in graph.nodes}
        self._order = first_reached(graph)
        self._board = board
        self._queues = queues
        self._max_failures = max_failures
        self._keep = keep
        self._done = done
        self._lock = Lock()
        self.alone = {node.id: Lock() for node in graph.nodes}
        """Locks: a stage has one caller at a time in this process, however many workers lead to it."""
        self.failure: StageFailed | None = None

    def enter(self, flow: Flow, payload: Any, worker: int) -> None:
        with self._lock:
            ready = self._deliver(flow, None, self._inputs, payload, share=False)
        self.go_on(flow, ready, worker)

    def go_on(self, flow: Flow, ready: Ready, worker: int, replica: Stage[Any, Any] | None = None) -> None:
        """Run what is ready until every token has ended, waits, or was handed to another worker."""
        while ready:
            node, payload = ready.popleft()
            # After a failure the query's other tokens are only counted off.
            result = None if flow.failed else self._run(flow, node, payload, worker, replica)
            replica = None
            with self._lock:
                if result is not None:
                    ready.extend(self._leave(flow, node, result[0]))
                flow.tokens -= 1
                if flow.tokens == 0 and (flow.failed or not self._merge_what_came(flow, ready)):
                    self._finish(flow)

    def _run(
        self, flow: Flow, node: Node, payload: Any, worker: int, replica: Stage[Any, Any] | None
    ) -> tuple[Any] | None:
        page = self._board.page
        stage = replica or node.stage
        first = items = 0
        lock = self.alone[node.id] if replica is None else Lock()
        with lock:
            page[PLACES + 2 * worker] = flow.query
            page[PLACES + 2 * worker + 1] = node.id + 1
            start = monotonic_ns()
            try:
                result = stage.process(payload)
                if isinstance(stage, StreamStage):
                    collected = []
                    for item in result:
                        first = first or monotonic_ns()
                        collected.append(item)
                    items, result = len(collected), stage.collected(collected)
                end = monotonic_ns()
            except Exception as error:  # noqa: BLE001  (a stage may raise anything)
                page[PLACES + 2 * worker + 1] = 0
                with self._lock:
                    if node.recorded:
                        self._board.write(
                            flow.query, node.id, flow.intended, start, monotonic_ns(), first, items, ERROR
                        )
                    self._fail(flow, StageFailed(flow.query, node.id, node.shape.name, error))
                return None
            page[PLACES + 2 * worker + 1] = 0
        if node.recorded:
            with self._lock:
                self._board.write(flow.query, node.id, flow.intended, start, end, first, items, OK)
        return (result,)

    def give_up(self, flow: Flow, node: Node, error: Exception) -> None:
        """Ends the run: what keeps results, or this class itself, has failed, and no query can be trusted to come
        back."""
        with self._lock:
            self._max_failures = -1
            self._fail(flow, StageFailed(flow.query, node.id, node.shape.name, error))

    def _fail(self, flow: Flow, failure: StageFailed) -> None:
        flow.failed = True
        page = self._board.page
        page[FAILED] += 1
        if page[FAILED] > self._max_failures and self.failure is None:
            self.failure = failure
            page[STOP] = 1

    def _leave(self, flow: Flow, node: Node, result: Any) -> Ready:
        targets: Iterable[int] = node.outputs
        payload = result
        if isinstance(result, Routed):
            payload = result.payload
            try:
                targets = self._open(flow, node, self._choose(node, result.to))
            except ValueError as error:
                self._fail(flow, StageFailed(flow.query, node.id, node.shape.name, error))
                return deque()
        if node.id in self._outputs and self._keep is not None:
            flow.results.append(payload)
        return self._deliver(flow, node.id, targets, payload, node.share)

    def _choose(self, node: Node, to: tuple[int | str, ...]) -> list[int]:
        chosen = []
        for word in to:
            target = word if isinstance(word, int) else self._ids.get(word)
            if target not in node.outputs:
                raise ValueError(f"routed to an {unknown('output', word, node.outputs)}")
            chosen.append(target)
        return chosen

    def _open(self, flow: Flow, node: Node, chosen: list[int]) -> list[int]:
        """A stage that has had its last visit is closed: the query takes the first of the other outputs instead."""
        still = [target for target in chosen if not self._is_spent(flow, target)]
        if still or not chosen:
            return still
        others = [target for target in node.outputs if target not in chosen and not self._is_spent(flow, target)]
        if not others:
            raise ValueError(f"every output has had its last visit ({list(node.outputs)})")
        self._board.page[CUT] += 1
        return others[:1]

    def _is_spent(self, flow: Flow, stage: int) -> bool:
        most = self._nodes[stage].max_visits
        return most is not None and flow.visits.get(stage, 0) >= most

    def _deliver(self, flow: Flow, source: int | None, targets: Iterable[int], payload: Any, share: bool) -> Ready:
        ready: Ready = deque()
        targets = list(targets)
        for target, mine in zip(targets, branch_payloads(payload, len(targets), share), strict=True):
            node = self._nodes[target]
            if self._is_spent(flow, target):
                self._board.page[CUT] += 1
            elif node.join == "merge":
                came = flow.waiting.setdefault(target, {})
                came[source] = mine
                if came.keys() == self._entering[target]:
                    self._send(flow, node, flow.waiting.pop(target), ready)
            elif node.join == "first" and source in self._entering[target] and target in flow.seen:
                self._board.page[IGNORED] += 1
            else:
                flow.seen.add(target)
                self._send(flow, node, mine, ready)
        return ready

    def _send(self, flow: Flow, node: Node, payload: Any, ready: Ready) -> None:
        flow.tokens += 1
        flow.visits[node.id] = flow.visits.get(node.id, 0) + 1
        queue = self._queues.get(node.id)
        if queue is None:
            ready.append((node, payload))
        else:
            queue.put((flow, payload))

    def _merge_what_came(self, flow: Flow, ready: Ready) -> bool:
        if not flow.waiting:
            return False
        target = min(flow.waiting, key=self._order.__getitem__)
        self._send(flow, self._nodes[target], flow.waiting.pop(target), ready)
        return True

    def _finish(self, flow: Flow) -> None:
        now = monotonic_ns()
        status = ERROR if flow.failed else OK
        self._board.write(flow.query, PIPELINE, flow.intended, flow.sent, now, 0, 0, status)
        if not flow.failed:
            self._board.page[COMPLETED] += 1
            if self._keep is not None:
                self._keep(flow.query, flow.results[0] if len(flow.results) == 1 else tuple(flow.results))
        self._done()
