from __future__ import annotations

import os
import signal
import time

from assay.process.spec import ProcessSpec
from assay.process.unended import GIVE_UP_S
from assay.process.usage.tree import Tree, stat_fields

TICK_S = 1.0
"""Silence after which a supervisor is looked at; it says something twice a second."""
STOPPED_TICKS = 30
"""Ticks of silence after which a supervisor that stays stopped, however often it is told to go on, is given up."""
LATE_TICKS = 30
"""Ticks of silence allowed after everything should be over: room for a machine that is very busy."""
_STOPPED = (b"T", b"t")


class Watchdog:
    """Whether a supervisor does its work. One that was stopped is told to go on; one that does not answer is given up.

    What is counted is ticks without a word, not time: if Assay itself stood still, the supervisor was not silent.
    """

    def __init__(self, pid: int, spec: ProcessSpec) -> None:
        self._pid = pid
        self._spec = spec
        self._silent = self._late = 0
        starts_in = spec.companion.attempts * (spec.companion.timeout_s + GIVE_UP_S) if spec.companion else 0.0
        self._until: float | None = time.monotonic() + starts_in + GIVE_UP_S
        self._limit: float | None = None
        self.was_stopped = False

    def start_clock(self) -> None:
        """The clock of the time limit runs from here."""
        self._until = None
        if self._spec.timeout_s:
            self._limit = time.monotonic() + self._spec.timeout_s
            self._until = self._limit + self._spec.grace_s + GIVE_UP_S

    @property
    def past_limit(self) -> bool:
        """The time limit of the program is over."""
        return self._limit is not None and time.monotonic() > self._limit

    def ending(self) -> None:
        """It was told to end the tree."""
        until = time.monotonic() + self._spec.grace_s + GIVE_UP_S
        self._until = until if self._until is None else min(self._until, until)

    def reset_silence(self) -> None:
        self._silent = 0
        if self._until is None or time.monotonic() < self._until:
            self._late = 0

    def tick(self) -> str:
        """Called after `TICK_S` of silence. Why the supervisor is given up, or nothing."""
        self._silent += 1
        if self._until is not None and time.monotonic() > self._until:
            self._late += 1
        states = {pid: (stat_fields(pid) or [b"Z"])[0] for pid in self._supervisor()}
        if states.get(self._pid) == b"Z":
            return "ended without a word"
        stopped = [pid for pid, state in states.items() if state in _STOPPED]
        for pid in stopped:
            self.was_stopped = True
            _go_on(pid)
        over = self._limit is not None and time.monotonic() > self._limit + self._spec.grace_s
        if stopped and (self._silent >= STOPPED_TICKS or (over and self._silent > 1)):
            return "was kept stopped"
        if self._late >= LATE_TICKS:
            return "did not answer"
        return ""

    def _supervisor(self) -> set[int]:
        """Ids of the supervisor's processes: in a namespace it is the child of the process that made the namespace."""
        if not self._spec.namespace:
            return {self._pid}
        return {self._pid, *(pid for pid in Tree(self._pid).walk() if _parent(pid) == self._pid)}


def _parent(pid: int) -> int:
    fields = stat_fields(pid)
    return int(fields[1]) if fields else 0


def _go_on(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGCONT)
    except (ProcessLookupError, PermissionError):
        pass  # It has ended meanwhile, and its pid may be another user's by now.
