from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO


class Progress:
    """Which scenario is running and how long the rest will take.

    Estimates are corrected by how those so far have turned out. On a terminal it is one line that is written over;
    elsewhere a line a scenario, so that a log stays readable.
    """

    def __init__(self, estimates: list[float], out: TextIO | None = None, clock: Callable[[], float] = time.monotonic):
        self._estimates = estimates
        self._out = out or sys.stderr
        self._clock = clock
        self._start = clock()
        self._done = 0

    @property
    def left_s(self) -> float:
        done, rest = sum(self._estimates[: self._done]), sum(self._estimates[self._done :])
        if not done:
            return rest
        # One slow scenario says little: the plan counts as two more that went as expected.
        prior = 2 * sum(self._estimates) / max(1, len(self._estimates))
        return rest * (self._clock() - self._start + prior) / (done + prior)

    def begin(self, name: str) -> None:
        text = f"[{self._done + 1}/{len(self._estimates)}] {name}: {clock_face(self.left_s)} left"
        self._out.write(f"\r\x1b[K{text}" if self._out.isatty() else f"{text}\n")
        self._out.flush()

    def end(self) -> None:
        self._done += 1

    def clear(self) -> None:
        if self._out.isatty():
            self._out.write("\r\x1b[K")
            self._out.flush()


class Silent(Progress):
    """For code that runs suites without a person watching."""

    def begin(self, name: str) -> None:
        pass


def clock_face(seconds: float) -> str:
    whole = max(0, round(seconds))
    return f"{whole // 60}:{whole % 60:02d}"
