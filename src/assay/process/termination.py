from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType


@contextmanager
def exit_on_termination() -> Iterator[None]:
    """SIGTERM, which a session sends at a time limit, unwinds as Ctrl-C does: `finally` blocks run, so that what was
    started is ended, scratch folders go and what was measured is kept. In a thread other than the first: nothing."""
    if current_thread() is not main_thread():
        yield
        return

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
