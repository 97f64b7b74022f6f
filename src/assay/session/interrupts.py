from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Ctrl-C, SIGTERM and SIGHUP, taken where a session can deal with them: while a run is watched.

    At any other moment the wish is kept until the next such place, so that no record is left half made. A second
    signal while nothing is watched is a user who does not want to wait: it interrupts whatever goes on.
    """

    def __init__(self) -> None:
        self.requested = False
        self._watching = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        # Only the main thread hears signals; a session in another one is ended from there.
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._handle) for number in SIGNALS}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside, a signal raises KeyboardInterrupt at once; so does one that came before."""
        self._watching = True
        try:
            if self.requested:
                raise KeyboardInterrupt
            yield
        finally:
            self._watching = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        again = self.requested
        self.requested = True
        if self._watching or again:
            raise KeyboardInterrupt
