"""What is left of a tree whose supervisor is gone, found and ended.

While a run goes on Assay adopts orphans (prctl(2)): when a supervisor is killed, everything below it becomes a child of
Assay's, however it forked and whatever it did to its environment. A child is such an orphan if it was not there while
the supervisor lived and is in another session than ours (setsid(2) leads only out of one). The mark finds the rest:
what had left before.
"""

from __future__ import annotations

import os
import secrets
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import ClassVar

from assay.process.spawn import adopt_orphans
from assay.process.spec import Unended
from assay.process.tree import Tree, stat_fields
from assay.process.unkillable import GIVE_UP_S, look_at


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


# The environment mark of a run's processes: what a program starts has it too, wherever it goes.
#
# A mark is a chain, outermost first: a supervised program may itself supervise others, which belong to both. What a
# process was started with is in /proc/PID/environ, which it cannot change; a program that starts another with an
# empty
# environment is found by its parentage instead.

VARIABLE = "ASSAY_MARK"
SESSION = "ASSAY_SESSION"
"""Folder of the session that started a process: programs, supervisors and the delivery to sinks have it."""


def new_mark(environment: Mapping[str, str]) -> str:
    """One that no other run has, inside the mark of `environment`."""
    outer = environment.get(VARIABLE, "")
    return f"{outer}/{secrets.token_hex(8)}" if outer else secrets.token_hex(8)


def read_start_environment(pid: int) -> dict[bytes, bytes]:
    """The environment that a process was started with; nothing where it is gone or another user's."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            pairs = (item.partition(b"=") for item in file.read().split(b"\0"))
            return {name: value for name, _, value in pairs if name}
    except OSError:
        return {}


def find_marked(mark: str) -> set[int]:
    """Processes of this mark and of marks inside it; zombies have none."""
    own = mark.encode()
    found = set()
    for pid in running_pids():
        value = read_start_environment(pid).get(VARIABLE.encode(), b"")
        if value == own or value.startswith(own + b"/"):
            found.add(pid)
    return found


def find_started_for(variable: str, value: str) -> set[int]:
    """Processes that were started with this variable, such as ASSAY_SESSION: all that a session started."""
    name, wanted = variable.encode(), os.fsencode(value)
    return {pid for pid in running_pids() if read_start_environment(pid).get(name) == wanted}


def running_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


SIGKILL = 9
_SESSION, _PARENT, _START = 3, 1, 19
_CHANGING = threading.Lock()


def own_children() -> set[int]:
    """Ids of the children that any thread of this process has, zombies among them."""
    found: set[int] = set()
    try:
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/children", "rb") as file:
                found.update(map(int, file.read().split()))
    except FileNotFoundError:  # a kernel without that file, or a thread that has just ended
        own = str(os.getpid()).encode()
        found = {pid for pid in running_pids() if (stat_fields(pid) or [b""] * 2)[_PARENT] == own}
    return found


class Leftovers:
    _supervisors: ClassVar[set[int]] = set()
    """Supervisors that this process has now. While there is one, it adopts orphans."""
    _reported: ClassVar[set[tuple[int, bytes]]] = set()
    """Processes that could not be ended, by pid and start: they belong to the run that named them, and to no other."""

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._known = own_children()

    def take_in(self, supervisor: int) -> None:
        with _CHANGING:
            adopt_orphans()
            self._supervisors.add(supervisor)

    def let_go(self, supervisor: int) -> None:
        with _CHANGING:
            self._supervisors.discard(supervisor)
            if not self._supervisors:
                adopt_orphans(False)

    def remember(self, supervisor: int) -> None:
        """Notes our children. Those that are there while the supervisor lives are ours; its orphans come when it
        dies."""
        children = own_children()
        if _runs(supervisor):  # looked at afterwards: its orphans come when it has died
            self._known |= children

    def report(self, unended: Iterable[Unended]) -> None:
        """Notes processes that a run has named as not to be ended: Assay may adopt them, and must not take them for
        another run's."""
        starts = ((process.pid, stat_fields(process.pid)) for process in unended)
        self._reported.update((pid, fields[_START]) for pid, fields in starts if fields)

    def end(self) -> tuple[int, tuple[Unended, ...]]:
        """Ends what is left; returns how many processes were ended, and those that could not be. What Assay may not
        signal is not waited for."""
        ended: set[int] = set()
        until = time.monotonic() + GIVE_UP_S
        while True:
            orphans = self._orphans()
            there = {pid for pid in orphans | self._below(orphans) | find_marked(self._mark) if pid != os.getpid()}
            refused: set[int] = set()
            for pid in there:
                try:
                    if _kill(pid):
                        ended.add(pid)
                except PermissionError:
                    refused.add(pid)
            for pid in orphans:
                _bury(pid)
            left = {pid for pid in there if _runs(pid)}
            if not (left | self._orphans()) - refused or time.monotonic() > until:
                unended = tuple(Unended(*found) for found in look_at(left, refused))
                self.report(unended)
                return len(ended - left), unended
            time.sleep(0.005)

    def _orphans(self) -> set[int]:
        own = str(os.getsid(0)).encode()
        found = set()
        for pid in own_children() - self._known - self._supervisors:
            fields = stat_fields(pid)
            if not fields or (pid, fields[_START]) in self._reported:
                continue
            if fields[_SESSION] != own and not _of_another(pid, self._mark):
                found.add(pid)
        return found

    def _below(self, roots: set[int]) -> set[int]:
        return {pid for root in roots for pid in Tree(root).walk()}


def _of_another(pid: int, mark: str) -> bool:
    """Whether a process is another supervisor's, or Assay's own (that has the session's variable and no mark of
    ours)."""
    environment = read_start_environment(pid)
    value = environment.get(VARIABLE.encode(), b"").decode(errors="replace")
    inside = value == mark or value.startswith(f"{mark}/")
    return not inside and (bool(value) or SESSION.encode() in environment)


def _runs(pid: int) -> bool:
    fields = stat_fields(pid)
    return bool(fields) and fields[0] != b"Z"


def _kill(pid: int) -> bool:
    """Whether a running process was sent SIGKILL. Raises PermissionError where that is not permitted."""
    if not _runs(pid):
        return False
    try:
        os.kill(pid, SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _bury(pid: int) -> None:
    """Waits for an orphan that has ended: it became our child, and nobody else does."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass
