"""A query's way through a graph whose stages all run in this thread, one query at a time.

It does what `Walker` does for workers that share a graph, but without locks, and it looks at the edges before the first
query: most hand a payload on unconditionally, and only the others ask `Conditions`. A stage begins where the one before
it ended, so its row shares that reading, unless a payload was copied in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import monotonic_ns
from typing import Any

from assay.loadgen.board import COMPLETED, DROPPED, ERROR, FAILED, HEAD, OK, PIPELINE, PLACES, ROW, TAIL, Board
from assay.loadgen.drive.branches import branch_payloads
from assay.loadgen.drive.ending import StageFailed
from assay.loadgen.drive.inline.conditions import Conditions
from assay.loadgen.drive.inline.inline_step import InlineStep, inline_steps
from assay.loadgen.drive.turns import Turn
from assay.loadgen.graph.graph import Graph
from assay.pipeline.route import Routed


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
