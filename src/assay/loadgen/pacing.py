"""Meeting an absolute deadline: sleep until shortly before it, then spin.

Sleeping alone wakes 20 to 90 µs late (timer slack and the wake-up itself); spinning alone burns a core and, where
cores are shared, is descheduled at the wrong moment. Sleeping to just before and spinning the rest meets the deadline
within a fraction of a microsecond at the median. How long to spin is learnt from how late the sleeps end, up to
100 µs: what is spun is taken from those who share the core, and they from us. Deadlines are absolute, so a late send
never delays the next ("coordinated omission": Tene, "How NOT to Measure Latency", 2013). Only the standard library is
imported: the sender process runs without site-packages.
"""

from __future__ import annotations

import ctypes
from signal import SIGKILL
from time import monotonic_ns, sleep

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
