"""Ending a load by a signal.

The main thread is inside compiled code while a load runs, where Python's handlers have to wait. The byte that the
interpreter writes for each signal (`signal.set_wakeup_fd`) does not: a thread waits for it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stopping_on_signal(stop: Callable[[], None]) -> Iterator[None]:
    """While the block runs, SIGTERM and SIGINT call `stop` and nothing else."""
    heard, told = os.pipe()
    os.set_blocking(told, False)
    before = {number: signal.signal(number, lambda *_: None) for number in _SIGNALS}
    last = signal.set_wakeup_fd(told)

    def wait() -> None:
        if os.read(heard, 1) != b"\0":
            stop()

    waiting = Thread(target=wait, daemon=True)
    waiting.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(last)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.write(told, b"\0")
        waiting.join()
        os.close(heard)
        os.close(told)
