"""Stages that misbehave at a given query, to see what a run does about it."""

from __future__ import annotations

import os
import signal
import time
from abc import abstractmethod
from typing import Any

from assay.pipeline.stage import Stage


class _AtCall(Stage[Any, Any]):
    def __init__(self, at: int = 10) -> None:
        self.at = at
        self._calls = 0

    def process(self, data: Any) -> Any:
        if self._calls == self.at:
            self._calls += 1
            self.misbehave()
        else:
            self._calls += 1
        return data

    @abstractmethod
    def misbehave(self) -> None: ...


class Raise(_AtCall):
    name = "raise"

    def misbehave(self) -> None:
        raise RuntimeError(f"asked to raise at call {self.at}")


class Hang(_AtCall):
    """Never returns and cannot be interrupted from within: signals that Python handles are blocked."""

    name = "hang"

    def misbehave(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
        while True:
            time.sleep(3600)


class Crash(_AtCall):
    """Ends its own process, as the kernel does when memory runs out."""

    name = "crash"

    def misbehave(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)


class Stall(_AtCall):
    """One call that takes `seconds`; all others take none."""

    name = "stall"

    def __init__(self, at: int = 10, seconds: float = 1.0) -> None:
        super().__init__(at)
        self.seconds = seconds

    def misbehave(self) -> None:
        time.sleep(self.seconds)
