"""Whose turn it is: iterators of (query, intended, sent), one for each way of pacing.

Both times are on the monotonic clock. In an open loop `intended` is the schedule's and does not move when the pipeline
is late; in a closed loop a query is intended when the one it waited for is done.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from time import monotonic_ns
from types import FrameType
from typing import Protocol

from assay.loadgen.schedulers.scheduler import Arrivals
from assay.loadgen.sender import Pacer
from assay.loadgen.shared_counters import SENT, STOP

_LEAST_S = 0.001


class TimeLimit(BaseException):
    """Not an Exception, so that a stage that catches everything does not catch this."""


@contextmanager
def time_limit(seconds: float | None, paused_s: Callable[[], float] = lambda: 0.0) -> Iterator[None]:
    """Interrupts the main thread wherever Python code or a system call can be interrupted.

    A stage stuck in C code is out of reach of this; a pipeline in a process of its own is killed by who watches it.
    `paused_s`: for how long it was kept standing still by then, which does not count.
    """
    if seconds is None or current_thread() is not main_thread():
        yield
        return

    granted = 0.0

    def fire(number: int, frame: FrameType | None) -> None:
        nonlocal granted
        more = paused_s() - granted
        if more < _LEAST_S:
            raise TimeLimit
        granted += more
        signal.setitimer(signal.ITIMER_REAL, more)

    before = signal.signal(signal.SIGALRM, fire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


Turn = tuple[int, int, int]
FOREVER = 1 << 62


class Gate(Protocol):
    """Held by a query in flight."""

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool: ...


def open_turns(blocks: Iterable[Arrivals], start_at: int, page: memoryview) -> Iterator[Turn]:
    query = 0
    pacer = Pacer()
    for block in blocks:
        for deadline in (block + start_at).tolist():
            now = monotonic_ns()
            if now < deadline:
                now = pacer.wait_until(deadline, page, STOP)
            if page[STOP]:
                return
            page[SENT] = query + 1
            yield query, deadline, now
            query += 1


def single_turns(page: memoryview, max_queries: int, until: int) -> Iterator[Turn]:
    for query in range(max_queries):
        now = monotonic_ns()
        if now >= until or page[STOP]:
            page[SENT] = query
            return
        # With one in flight, the number sent follows from the number done; storing it for every query would only cost.
        if not query & 63:
            page[SENT] = query + 1
        yield query, now, now
    page[SENT] = max_queries


def concurrent_turns(page: memoryview, max_queries: int, until: int, concurrency: int, grouped: bool) -> Iterator[Turn]:
    """Turns of a closed loop, for a pipeline that takes one query at a time: the others wait in line, and their time
    counts."""
    waiting: deque[int] = deque()
    for query in range(max_queries):
        now = monotonic_ns()
        if query == 0 or (grouped and query % concurrency == 0):
            waiting.extend([now] * min(concurrency, max_queries - query))
        elif not grouped and query + len(waiting) < max_queries:
            waiting.append(now)
        if now >= until or page[STOP]:
            # Those still in line were never looked at: they are not part of the run.
            page[SENT] = query
            return
        page[SENT] = query + len(waiting)
        yield query, waiting.popleft(), now


def gate_turns(
    page: memoryview, max_queries: int, until: int, concurrency: int, grouped: bool, gate: Gate
) -> Iterator[Turn]:
    """Turns of a closed loop, for a pipeline with workers: a query is sent when one that finishes opens the gate."""
    for query in range(max_queries):
        # All of the last group must be back before the next leaves.
        needed = 1 if not grouped else concurrency if query % concurrency == 0 else 0
        for _ in range(needed):
            if not _enter(gate, page, until):
                return
        now = monotonic_ns()
        if now >= until or page[STOP]:
            return
        page[SENT] = query + 1
        yield query, now, now


def _enter(gate: Gate, page: memoryview, until: int) -> bool:
    while not gate.acquire(timeout=0.05):
        if page[STOP] or monotonic_ns() >= until:
            return False
    return True
