from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic_ns, sleep

import numpy as np

import assay
from assay.errors import AssayError
from assay.loadgen import sender
from assay.loadgen.driver.pacing import Turn
from assay.loadgen.schedulers.scheduler import Arrivals
from assay.loadgen.sender import Channel
from assay.loadgen.shared_counters import COMPLETED, FAILED, HELD, SENT, STOP, Board

_SPIN_NS = 20_000
_WAKE_MS = 2
"""Milliseconds after which the receiver looks again: a wake-up can be missed when both sides look at once."""
_AHEAD = 1 << 16
"""Arrivals written ahead of their time: at 1,000 a second, enough for a stage that keeps us busy for a minute."""
ENDLESS = 1 << 27
"""Queries that a schedule without an end has room for: 37 hours at 1,000 a second."""


class Reception:
    """The pipeline's end of a sender process: starts it, and takes in what it sends."""

    def __init__(self, blocks: Iterator[Arrivals], count: int | None, queue_depth: int | None, folder: Path) -> None:
        """`count`: number of all arrivals in the blocks; None where they have no end."""
        self._blocks = blocks
        self._endless = count is None
        self._channel = Channel(folder / f"channel-{os.getpid()}-{monotonic_ns()}", ENDLESS if count is None else count)
        self._draw_on()
        self._channel.page[sender.DEPTH] = queue_depth or 0
        self._event = os.eventfd(0, os.EFD_NONBLOCK)
        environment = {**os.environ, "PYTHONPATH": str(Path(assay.__file__).parent.parent)}
        self._sender = subprocess.Popen(
            [sys.executable, "-S", "-m", "assay.loadgen.sender", str(self._channel.path), str(self._event)],
            pass_fds=[self._event],
            env=environment,
            stdin=subprocess.DEVNULL,
        )
        while not self._channel.page[sender.READY]:
            self._alive()
            sleep(0.001)

    def turns(self, start_at: int, board: Board) -> Iterator[Turn]:
        mine, page = self._channel, board.page
        shared = mine.page
        shared[sender.START_AT] = start_at
        count = len(mine.arrivals)
        for query in range(count):
            if shared[sender.DRAWN] - shared[sender.HEAD] < _AHEAD and shared[sender.DRAWN] < count:
                self._draw_on()
            while shared[sender.HEAD] <= query:
                shared[sender.COMPLETED] = page[COMPLETED] + page[FAILED]
                if page[STOP] or (shared[sender.FINISHED] and shared[sender.HEAD] <= query):
                    shared[sender.STOP] = 1
                    return
                self._wait(query)
            if page[STOP]:
                shared[sender.STOP] = 1
                return
            page[SENT] = shared[sender.HEAD]
            page[HELD] = shared[sender.HELD]
            shared[sender.COMPLETED] = page[COMPLETED] + page[FAILED]
            yield query, start_at + mine.arrivals[query], mine.sent[query]
        page[HELD] = shared[sender.HELD]
        if self._endless:
            raise AssayError(f"it has sent {count:,} queries, the most that a sender process can without an end")

    def _draw_on(self) -> None:
        shared, count = self._channel.page, len(self._channel.arrivals)
        arrivals = np.frombuffer(self._channel.arrivals, np.int64)
        while (drawn := shared[sender.DRAWN]) < min(shared[sender.HEAD] + _AHEAD, count):
            block = next(self._blocks)[: count - drawn]
            arrivals[drawn : drawn + len(block)] = block
            shared[sender.DRAWN] = drawn + len(block)

    def tell_completed(self, board: Board) -> None:
        """Tells a sender that `queue_depth` holds back, without waiting for the next turn."""
        self._channel.page[sender.COMPLETED] = board.page[COMPLETED] + board.page[FAILED]

    def _wait(self, query: int) -> None:
        shared = self._channel.page
        until = monotonic_ns() + _SPIN_NS
        while monotonic_ns() < until:
            if shared[sender.HEAD] > query:
                return
        shared[sender.WAITING] = 1
        if shared[sender.HEAD] > query or shared[sender.FINISHED]:
            return
        if select.select([self._event], [], [], _WAKE_MS / 1e3)[0]:
            os.eventfd_read(self._event)
        else:
            self._alive()

    def _alive(self) -> None:
        code = self._sender.poll()
        if code is not None and not self._channel.page[sender.FINISHED]:
            raise AssayError(f"the sender process ended with {code} before its schedule did")

    def close(self) -> None:
        self._channel.page[sender.STOP] = 1
        try:
            self._sender.wait(2)
        except subprocess.TimeoutExpired:
            self._sender.kill()
            self._sender.wait()
        os.close(self._event)
        self._channel.path.unlink(missing_ok=True)
