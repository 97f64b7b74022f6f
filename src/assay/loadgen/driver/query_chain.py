"""A chain of stages, one query at a time, in this thread.

This is the hot path: one clock reading, one call and one packed row a stage, no allocation beyond the numbers. A stage
begins where the one before it ended, so its row shares that reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import monotonic_ns
from typing import Any

from assay.loadgen.driver.ending import StageFailed
from assay.loadgen.driver.pacing import Turn
from assay.loadgen.graph import Node
from assay.loadgen.shared_counters import (
    COMPLETED,
    DROPPED,
    ERROR,
    FAILED,
    HEAD,
    OK,
    PIPELINE,
    PLACES,
    ROW,
    TAIL,
    Board,
)

Keep = Callable[[int, Any], None]


class QueryChain:
    def __init__(
        self,
        nodes: Sequence[Node],
        board: Board,
        samples: int | None,
        max_failures: int = 0,
        keep: Keep | None = None,
    ) -> None:
        self._steps = [(node.id + 1, node.id, node.stage.process, node.recorded) for node in nodes]
        self._names = {node.id: node.shape.name for node in nodes}
        self._board = board
        self._samples = samples
        self._max_failures = max_failures
        self._keep = keep
        if len(nodes) + 1 > board.capacity:
            raise ValueError(f"a chain of {len(nodes)} stages needs a ring of more than {board.capacity} rows")

    def run(self, turns: Iterable[Turn], queued: bool) -> None:
        """`queued`: queries were sent elsewhere and waited; otherwise one begins at the instant it is sent."""
        clock, pack, size = monotonic_ns, ROW.pack_into, ROW.size
        steps, samples, keep = self._steps, self._samples, self._keep
        board = self._board
        page, rows, capacity = board.page, board.rows, board.capacity
        in_query, in_stage = PLACES, PLACES + 1
        width, ring = sum(step[3] for step in steps) + 1, capacity * size - 1
        # Rows for a full ring go here, so that the loop stays the same; only the count of dropped rows tells.
        nowhere = memoryview(bytearray(size))
        head, completed, failed = page[HEAD], page[COMPLETED], page[FAILED]
        limit = page[TAIL] + capacity
        for query, intended, sent in turns:
            payload: Any = query if samples is None else query % samples
            if head + width > limit:
                limit = page[TAIL] + capacity
            if head + width <= limit:
                target, offset, mask = rows, head * size & ring, ring
            else:
                target, offset, mask = nowhere, 0, 0
            page[in_query] = query
            written = 0
            begin = clock() if queued else sent
            try:
                for place, stage, process, recorded in steps:
                    page[in_stage] = place
                    payload = process(payload)
                    now = clock()
                    if recorded:
                        pack(target, offset, query, stage, intended, begin, now, 0, 0, OK)
                        offset = (offset + size) & mask
                    begin = now
                page[in_stage] = 0
                pack(target, offset, query, PIPELINE, intended, sent, begin, 0, 0, OK)
                completed += 1
                page[COMPLETED] = completed
                written = width
            except Exception as error:
                now = clock()
                stage = page[in_stage] - 1
                page[in_stage] = 0
                until = next(n for n, step in enumerate(steps, 1) if step[1] == stage)
                if steps[until - 1][3]:
                    pack(target, offset, query, stage, intended, begin, now, 0, 0, ERROR)
                    offset = (offset + size) & mask
                pack(target, offset, query, PIPELINE, intended, sent, now, 0, 0, ERROR)
                written = sum(step[3] for step in steps[:until]) + 1
                failed += 1
                page[FAILED] = failed
                if failed > self._max_failures:
                    raise StageFailed(query, stage, self._names[stage], error) from error
            else:
                if keep is not None:
                    keep(query, payload)
            finally:
                if mask:
                    head += written
                    page[HEAD] = head
                else:
                    page[DROPPED] += written
