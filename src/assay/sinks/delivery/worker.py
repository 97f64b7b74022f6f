"""`python -m assay.sinks.delivery.worker FOLDER`: started by `Delivery`. The sinks' configuration comes as the first
line of standard input, because it holds secrets; what follows are wake-up calls."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import sqlite3
import sys
import time
import traceback
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from assay.files.writing import open_append
from assay.sinks.delivery.courier import Courier, take_courier_lock
from assay.sinks.delivery.outbox import Outbox
from assay.sinks.delivery.sink_state import SinkState
from assay.sinks.sink import SinkSpec
from assay.sinks.sink_secrets import Secrets

# The delivery process: forks a courier for each sink, starts another when one dies, ends them when told.
#
# It is one process beside the session, at low priority. It sleeps until there is news: a byte on its standard input
# (something was appended to the log), the end of that input (the session is over, or was killed), or a courier's end.

T = TypeVar("T")
_LOOK_EVERY_S = 0.1
AGAIN_S = 1.0
"""Seconds after which a file that could not be written is tried again."""
_PR_SET_PDEATHSIG = 1
# Exit code of a courier that is done. Not 0: a sink may end its process with that at any moment.
_ALL_DELIVERED = 86


@dataclass
class _Post:
    """A sink and the courier that serves it now."""

    spec: SinkSpec
    pid: int = 0
    kick: int = -1
    served: bool = False
    failures_before: int = 0
    unwritten: int = 0
    """Failures that could not be written down."""
    not_before: float = 0.0
    """Time of the monotonic clock before which no other courier begins."""


class DeliverySupervisor:
    def __init__(self, outbox: Outbox, specs: Sequence[SinkSpec], linger_s: float, tries: int) -> None:
        self._outbox = outbox
        self._secrets = Secrets(specs)
        self._posts = [_Post(spec) for spec in specs if spec.enabled]
        self._linger_s = linger_s
        self._tries = tries
        self._ends_at: float | None = None
        self._said = ""

    def run(self, news: int) -> None:
        """`news`: the descriptor that says when to look, and by its end that nothing more will come."""
        wake, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        watched = [wake, news]
        try:
            while not self._over():
                self._start_couriers()
                ready, _, _ = select.select(watched, [], [], self._patience())
                if wake in ready:
                    os.read(wake, 4096)
                if news in ready:
                    if os.read(news, 4096):
                        self._kick()
                    else:
                        watched.remove(news)
                        self._drain()
                self._bury()
        finally:
            self._end()

    def _over(self) -> bool:
        if self._ends_at is None:
            return False
        waiting = [post for post in self._posts if not post.served]
        if not waiting or time.monotonic() > self._ends_at:
            return True
        return all(self._has_given_up(post) for post in waiting)

    def _has_given_up(self, post: _Post) -> bool:
        """Whether it has failed so often since the session ended that waiting longer would be for nothing."""
        return self._failures(post) - post.failures_before >= self._tries

    def _drain(self) -> None:
        self._ends_at = time.monotonic() + self._linger_s
        for post in self._posts:
            post.failures_before = self._failures(post)
            self._try_now(post)
            self._close(post)

    def _patience(self) -> float | None:
        if self._ends_at is not None:
            return _LOOK_EVERY_S
        due = [self._due_s(post) for post in self._posts if not post.pid and not post.served]
        return min(due, default=None)

    def _start_couriers(self) -> None:
        for post in self._posts:
            if not post.pid and not post.served and self._due_s(post) <= 0:
                self._start(post)

    def _start(self, post: _Post) -> None:
        read, write = os.pipe()
        os.set_blocking(write, False)
        pid = os.fork()
        if pid == 0:
            os.close(write)
            self._courier(post, read)
        os.close(read)
        post.pid, post.kick = pid, write
        if self._ends_at is not None:
            self._close(post)

    def _courier(self, post: _Post, kicks: int) -> None:
        code = 1
        try:
            os.setsid()
            _die_with_parent()
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            # If this process kept the pipe of another courier open, that one would never see its end. The lock stays:
            # nobody else delivers before this process is gone.
            for other in self._posts:
                self._close(other)
            os.dup2(take_courier_lock(self._outbox.courier_path(post.spec.name), _say), 0)
            Courier(self._outbox, post.spec, self._secrets, kicks).run()
            code = _ALL_DELIVERED
        except (sqlite3.Error, OSError) as error:
            told = f"delivery to {post.spec.name} begins again: {type(error).__name__}: {error}"
            _say(self._secrets.mask(told))
        except BaseException:  # noqa: BLE001 - a forked child must not go on as the supervisor
            _say(self._secrets.mask(traceback.format_exc()))
        finally:
            os._exit(code)

    def _bury(self) -> None:
        for post in self._posts:
            if not post.pid:
                continue
            pid, status = os.waitpid(post.pid, os.WNOHANG)
            if not pid:
                continue
            _kill_group(post.pid)
            self._close(post)
            post.pid = 0
            post.served = os.WIFEXITED(status) and os.WEXITSTATUS(status) == _ALL_DELIVERED
            if not post.served:
                self._mark_failed(post, _cause(post.spec, status))

    def _kick(self) -> None:
        for post in self._posts:
            if post.kick >= 0:
                try:
                    os.write(post.kick, b"k")
                except OSError:
                    # A full pipe wakes its courier anyway; a broken one belongs to a courier that has died and is
                    # replaced.
                    continue

    def _close(self, post: _Post) -> None:
        if post.kick >= 0:
            os.close(post.kick)
            post.kick = -1

    def _end(self) -> None:
        for post in self._posts:
            if post.pid:
                _kill_group(post.pid)
                os.waitpid(post.pid, 0)

    def _due_s(self, post: _Post) -> float:
        """Seconds until its courier may begin."""
        due = self._ask(post, lambda state: state.progress.next_try_at - time.time(), AGAIN_S)
        return max(0.0, due, post.not_before - time.monotonic())

    def _failures(self, post: _Post) -> int:
        return self._ask(post, lambda state: state.progress.ever_failed, post.failures_before) + post.unwritten

    def _mark_failed(self, post: _Post, why: str) -> None:
        def write(state: SinkState) -> bool:
            state.mark_failed(why)
            return True

        if not self._ask(post, write, False):
            post.unwritten += 1
            post.not_before = time.monotonic() + AGAIN_S

    def _try_now(self, post: _Post) -> None:
        self._ask(post, SinkState.try_now, None)

    def _ask(self, post: _Post, ask: Callable[[SinkState], T], otherwise: T) -> T:
        """What `ask` finds in the sink's state; `otherwise` where the disk is full or gone for a while, so that other
        sinks go on."""
        try:
            state = self._outbox.state(post.spec.name)
            try:
                return ask(state)
            finally:
                state.close()
        except (sqlite3.Error, OSError) as error:
            if self._said != str(error):
                _say(f"progress of {post.spec.name}: {error}; tried again")
                self._said = str(error)
            return otherwise


def _say(text: str) -> None:
    """Writes to the delivery's log, if that is possible: it may be on the disk that is full."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def _die_with_parent() -> None:
    """Has Linux end this process when its supervisor is killed: two couriers for one sink would deliver twice."""
    import ctypes

    supervisor = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != supervisor:
        os._exit(1)


def _kill_group(pid: int) -> None:
    """The courier and whatever its library started."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    except PermissionError:
        return


def _cause(spec: SinkSpec, status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGALRM:
            limit = spec.delivery_timeout_s
            return f"no answer within {limit:g} s" if limit else "no answer within its time limit"
        return f"its process was ended by {signal.Signals(number).name}"
    return f"its process ended with code {os.WEXITSTATUS(status)}: see outbox/delivery.log"


def main() -> int:
    parser = ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--linger", type=float, default=60.0)
    parser.add_argument("--tries", type=int, default=2)
    args = parser.parse_args()
    outbox = Outbox(args.folder)
    specs = [SinkSpec(**written) for written in json.loads(_first_line(0) or "[]")]
    os.nice(10)
    with open_append(outbox.lock) as lock:
        # The worker of a killed session may still be at it: it ends by itself, and two would deliver twice.
        fcntl.flock(lock, fcntl.LOCK_EX)
        DeliverySupervisor(outbox, specs, args.linger, args.tries).run(news=0)
    return 0


def _first_line(descriptor: int) -> str:
    """The first line, read byte by byte: what follows it must stay in the pipe."""
    line = bytearray()
    while (byte := os.read(descriptor, 1)) not in (b"\n", b""):
        line += byte
    return line.decode()


if __name__ == "__main__":
    sys.exit(main())
