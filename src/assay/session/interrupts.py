from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Ctrl-C, SIGTERM and SIGHUP (a closed terminal), answered where a session can deal with them.

    While runs are made and recorded a signal is only counted: the session looks at `count` while it watches a run and
    between two, so that no record is left half made however often somebody presses Ctrl-C. At any other time the second
    signal comes from a user who does not want to wait: it interrupts whatever goes on.
    """

    def __init__(self) -> None:
        self.count = 0
        """Signals so far."""
        self._held = 0
        self._before: dict[int, Any] = {}

    @property
    def requested(self) -> bool:
        return self.count > 0

    def __enter__(self) -> Self:
        # Only the main thread hears signals; a session in another one is ended from there.
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` and a shell's `&` wish
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Inside, signals are counted and interrupt nothing."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if self.count > 1 and not self._held:
            raise KeyboardInterrupt
