from __future__ import annotations

import os
import secrets
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import assay
from assay.errors import UsageError
from assay.process.leftovers import SESSION, VARIABLE, Leftovers, new_mark
from assay.process.message import TOKEN_BYTES, Inbox, send
from assay.process.spec import ProcessResult, ProcessSpec
from assay.process.tree import Tree, stat_fields
from assay.process.unkillable import GIVE_UP_S

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


_SOURCE = str(Path(assay.__file__).parent.parent)
_START = f"import sys; sys.path.append({_SOURCE!r}); from assay.process.supervisor import main; main()"
_NAMESPACE = ["unshare", "--net", "--pid", "--fork", "--mount-proc", "--kill-child", "--"]
MARKS = (VARIABLE, SESSION)
"""Variables of a program by which its supervisor can be found as well."""
_LOOPBACK_UP = ["sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


@dataclass(frozen=True)
class Status:
    """State of a running process, told twice a second."""

    elapsed_s: float
    cpu_s: float
    rss_mb: float
    gpu_pct: float | None = None
    """Share of the GPUs' processors that its own processes used, in percent; None where that is not known. So with
    the memory."""
    gpu_memory_mb: float | None = None


class Supervised:
    """A program under its own supervisor process. Closing it, or dying, ends the program's whole tree."""

    def __init__(self, spec: ProcessSpec) -> None:
        control_read, self._control = os.pipe()
        self._status, status_write = os.pipe()
        mark = new_mark(os.environ)
        spec = spec.with_variable(VARIABLE, mark)
        # -I -S: nothing of the user's site or environment can slow the supervisor or change it.
        argv = [sys.executable, "-I", "-S", "-c", _START, str(control_read), str(status_write)]
        if spec.namespace:
            argv = [*_NAMESPACE, *_LOOPBACK_UP, *argv]
        self._leftovers = Leftovers(mark)
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                pass_fds=(control_read, status_write),
                start_new_session=True,
                stdout=subprocess.DEVNULL,
                cwd="/",
                env={**os.environ, **{name: spec.env[name] for name in MARKS if name in spec.env}},
            )
        except FileNotFoundError as error:
            raise UsageError(f"`isolation: namespace` needs {error.filename} (Debian package util-linux)") from None
        finally:
            os.close(control_read)
            os.close(status_write)
        self._leftovers.take_in(self._process.pid)
        self._token = secrets.token_bytes(TOKEN_BYTES)
        self._inbox = Inbox(self._status, self._token)
        self._watchdog = Watchdog(self._process.pid, spec)
        os.write(self._control, self._token)
        send(self._control, self._token, spec.to_message())
        self.tree = Tree(self._process.pid)
        """All that runs under the supervisor."""
        self.pid: int | None = None
        self._started = 0.0
        self._words = ""
        self.result: ProcessResult | None = None

    def statuses(self, timeout_s: float | None = None) -> Iterator[Status | None]:
        """What is heard until the end; None each time nothing was heard for `timeout_s`, or for a second."""
        if self.result is not None:
            return
        poll = select.poll()
        poll.register(self._status, select.POLLIN)
        wait_s = TICK_S if timeout_s is None else min(timeout_s, TICK_S)
        silent_s = 0.0
        while self.result is None:
            if poll.poll(int(wait_s * 1000)):
                silent_s = 0.0
                yield from self._take()
                continue
            silent_s += wait_s
            if silent_s >= TICK_S:
                silent_s = 0.0
                why = self._watchdog.tick()
                if why:
                    self.result = self._take_over(why)
            if timeout_s is not None and self.result is None:
                yield None
        self._close()

    def _take(self) -> Iterator[Status]:
        messages = self._inbox.take()
        self._watchdog.reset_silence()
        for message in messages:
            if message[0] == "status":
                self._leftovers.remember(self._process.pid)
                yield Status(*message[1:])
            elif message[0] == "started":
                self.pid = message[1]
            elif message[0] == "starting":
                self._started = time.monotonic()
                self._watchdog.start_clock()
            else:
                self.result = replace(ProcessResult.from_message(message[1]), stopped=self._watchdog.was_stopped)
                self._leftovers.report(self.result.immortal)
        if self.result is None and self._inbox.forged:
            self.result = self._take_over("was given up: something else wrote on its pipe to Assay")
        elif self.result is None and self._inbox.closed:
            self.result = self._take_over("")

    def wait(self) -> ProcessResult:
        for _ in self.statuses():
            pass
        assert self.result is not None
        return self.result

    def end(self, why: str) -> None:
        """Ends the tree: SIGTERM, after the grace SIGKILL; asked once more, SIGKILL at once.

        `wait` returns when nothing of it is left.
        """
        if self.result is None:
            self._words = why
            self._watchdog.ending()
            try:
                send(self._control, self._token, why)
            except BrokenPipeError:
                pass  # It has ended by itself meanwhile.

    def _take_over(self, why: str) -> ProcessResult:
        """The supervisor is gone, or of no use: what is left of the tree is ended from here."""
        past_limit = self._watchdog.past_limit
        code = self._process.poll()
        self._process.kill()
        try:
            seen = self._process.wait(GIVE_UP_S)
        except subprocess.TimeoutExpired:
            seen = None  # It hangs in the kernel.
        ended, immortal = self._leftovers.end()
        code = seen if code is None and not why else code
        what = f"its supervisor process {why or _ending(code)}"
        if not self._started:
            return ProcessResult(failure=f"{what} before it started the program", immortal=immortal)
        return ProcessResult(
            exec_time_s=time.monotonic() - self._started,
            ended_because="timeout" if past_limit and not self._words else self._words,
            unseen=what,
            left_behind=ended,
            immortal=immortal,
            stopped=self._watchdog.was_stopped,
        )

    def _close(self) -> None:
        os.close(self._control)
        os.close(self._status)
        self._leftovers.let_go(self._process.pid)
        try:
            self._process.wait(GIVE_UP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()  # It has said its last word; whatever holds it up is not ours to wait for.


def _ending(code: int | None) -> str:
    if code is None:
        return "could not be ended"
    if code >= 0:
        return f"ended unexpectedly with code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
