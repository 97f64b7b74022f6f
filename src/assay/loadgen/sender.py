"""The sender: a process that does nothing but send each query at its time.

    python -S -m assay.loadgen.sender CHANNEL EVENT_FD

It has an interpreter of its own, so a stage that holds the pipeline's cannot delay a send. Only the standard library
is imported; the schedule was drawn by the pipeline and lies in the channel.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from pathlib import Path
from signal import SIGKILL
from time import monotonic_ns, sleep
from typing import Final

# Meeting an absolute deadline: sleep until shortly before it, then spin.
#
# Sleeping alone wakes 20 to 90 µs late (timer slack and the wake-up itself); spinning alone burns a core and, where
# cores are shared, is descheduled at the wrong moment. Sleeping to just before and spinning the rest meets the
# deadline
# within a fraction of a microsecond at the median. How long to spin is learnt from how late the sleeps end, up to
# 100 µs: what is spun is taken from those who share the core, and they from us. Deadlines are absolute, so a late
# send
# never delays the next ("coordinated omission": Tene, "How NOT to Measure Latency", 2013). Only the standard library
# is
# imported: the sender process runs without site-packages.

SPIN_MOST_NS = 100_000
_SPIN_LEAST_NS = 5_000
_PR_SET_TIMERSLACK = 29
_PR_SET_PDEATHSIG = 1
_LONGEST_SLEEP_NS = 50_000_000


def precise_timers() -> None:
    """Ask the kernel to wake this thread without its usual 50 µs of slack. Harmless where it cannot."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)
    except (OSError, AttributeError):
        return


def end_with_parent() -> None:
    """Has the kernel kill this process when the one that started it dies: it is of no use without."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)


class Pacer:
    """One sender's way to wait; it remembers how late sleeps end here."""

    __slots__ = ("spin_ns",)

    def __init__(self) -> None:
        self.spin_ns = SPIN_MOST_NS

    def wait_until(self, deadline: int, stop: memoryview, stop_at: int) -> int:
        """The time on return, at or after `deadline`; or before it when `stop[stop_at]` was set meanwhile."""
        now = monotonic_ns()
        left = deadline - now
        while left > self.spin_ns:
            if stop[stop_at]:
                return now
            # Short sleeps only so that a stop is noticed in time.
            wake = now + min(left, _LONGEST_SLEEP_NS) - self.spin_ns
            sleep((wake - now) / 1e9)
            now = monotonic_ns()
            self._learn(now - wake)
            left = deadline - now
        while now < deadline:
            now = monotonic_ns()
        return now

    def _learn(self, late: int) -> None:
        """Follow the lateness of wake-ups from above: up at once, down slowly.

        A wake-up that is later than any spin would cover lost its core to another program and says nothing of the
        timer.
        """
        if late >= SPIN_MOST_NS:
            return
        if late > self.spin_ns:
            self.spin_ns = min(late + late // 4, SPIN_MOST_NS)
        else:
            self.spin_ns = max(self.spin_ns - (self.spin_ns - late) // 32, _SPIN_LEAST_NS)


# A schedule and what has been sent of it, shared by a sender process and the pipeline that receives.
#
# Every query has its own word for its send time, so nothing can overflow; a schedule without an end has room for more
# queries than are ever sent, and takes memory as they are (the file is sparse). The pipeline writes arrivals well
# before
# their time. The sender owns HEAD, HELD and FINISHED, the pipeline the rest; a receiver with nothing to do waits on
# an
# eventfd.

START_AT: Final = 0
STOP: Final = 1
HEAD: Final = 2
COMPLETED: Final = 3
HELD: Final = 4
READY: Final = 5
FINISHED: Final = 6
WAITING: Final = 7
DEPTH: Final = 8
DRAWN: Final = 9
"""Number of arrivals written so far."""
PAGE: Final = 16


class Channel:
    def __init__(self, path: Path, count: int, create: bool = True) -> None:
        self.path = path
        size = (PAGE + 2 * count) * 8
        descriptor = os.open(path, os.O_RDWR | (os.O_CREAT | os.O_EXCL if create else 0), 0o600)
        try:
            if create:
                os.ftruncate(descriptor, size)
            self._map = mmap.mmap(descriptor, size)
        finally:
            os.close(descriptor)
        words = memoryview(self._map).cast("q")
        self.page = words[:PAGE]
        self.arrivals = words[PAGE : PAGE + count]
        self.sent = words[PAGE + count :]

    @classmethod
    def open(cls, path: Path) -> Channel:
        return cls(path, (path.stat().st_size // 8 - PAGE) // 2, create=False)


def send(channel: Channel, event: int) -> None:
    page, arrivals, sent = channel.page, channel.arrivals, channel.sent
    pacer = Pacer()
    depth = page[DEPTH] or len(arrivals) + 1
    for query in range(len(arrivals)):
        while page[DRAWN] <= query and not page[STOP]:
            sleep(100e-6)
        now = pacer.wait_until(page[START_AT] + arrivals[query], page, STOP)
        if query - page[COMPLETED] >= depth:
            page[HELD] += 1
            while query - page[COMPLETED] >= depth and not page[STOP]:
                sleep(20e-6)
            now = monotonic_ns()
        if page[STOP]:
            break
        sent[query] = now
        page[HEAD] = query + 1
        if page[WAITING]:
            page[WAITING] = 0
            os.eventfd_write(event, 1)
    page[FINISHED] = 1
    os.eventfd_write(event, 1)


def main() -> None:
    channel = Channel.open(Path(sys.argv[1]))
    end_with_parent()
    precise_timers()
    channel.page[READY] = 1
    while not channel.page[START_AT] and not channel.page[STOP]:
        sleep(0.001)
    send(channel, int(sys.argv[2]))


if __name__ == "__main__":
    main()
