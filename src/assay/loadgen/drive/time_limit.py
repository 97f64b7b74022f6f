from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

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
