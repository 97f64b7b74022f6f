"""Meeting an absolute deadline: sleep until shortly before it, then spin.

Sleeping alone wakes 50 to 90 µs late (timer slack and the wake-up itself); spinning alone burns a core and, where
cores are shared, is descheduled at the wrong moment. Sleeping to 100 µs before and spinning the rest meets the
deadline within a fraction of a microsecond at the median. Deadlines are absolute, so a late send never delays the
next ("coordinated omission": Tene, "How NOT to Measure Latency", 2013). Only the standard library is imported: the
sender process runs this file's code without site-packages.
"""

from __future__ import annotations

import ctypes
from time import monotonic_ns, sleep

SPIN_NS = 100_000
_PR_SET_TIMERSLACK = 29
_LONGEST_SLEEP_NS = 50_000_000


def precise_timers() -> None:
    """Ask the kernel to wake this thread without its usual 50 µs of slack. Harmless where it cannot."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)
    except (OSError, AttributeError):
        return


def wait_until(deadline: int, stop: memoryview, stop_at: int) -> int:
    """The time on return, at or after `deadline`; or before it when `stop[stop_at]` was set meanwhile."""
    now = monotonic_ns()
    left = deadline - now
    while left > SPIN_NS:
        if stop[stop_at]:
            return now
        # Short sleeps only so that a stop is noticed in time.
        sleep((min(left, _LONGEST_SLEEP_NS) - SPIN_NS) / 1e9)
        now = monotonic_ns()
        left = deadline - now
    while now < deadline:
        now = monotonic_ns()
    return now
