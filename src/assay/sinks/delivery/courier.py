"""Delivers to one sink, in a process of its own.

The time limit of a hook is the kernel's: SIGALRM with its default action ends the process, whatever the hook does
(a C library that holds the interpreter's lock included). The supervisor sees that signal, writes down why, and
starts another courier. So nothing here needs to be interruptible, only what is on disk must be right at any moment.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.files.writing import open_existing
from assay.record import Environment, SessionInfo
from assay.record.metric import plain
from assay.sinks.delivery.outbox import Closing, Memory, Message, Outbox, SinkContext, select_sink_data
from assay.sinks.registry import make_sink
from assay.sinks.sink import Rejected, Sink, SinkSpec, Unavailable
from assay.sinks.sink_secrets import Secrets


def once(memory: Memory, key: str, look: Callable[[], str | None], create: Callable[[], str]) -> str:
    """The id of a remote thing that is made exactly once, whenever this process is killed.

    The intention is on disk before the thing is made, and its id as soon as the service has answered. A process that
    finds the intention without an id asks the service (`look`) whether the thing is there already.
    """
    known = memory.get(f"id of {key}")
    if known is not None:
        return str(known)
    begun = memory.get(f"making {key}")
    memory[f"making {key}"] = True
    made = (look() if begun else None) or create()
    memory[f"id of {key}"] = made
    return made


# One courier a sink at a time, what its library started included.
#
# A library may start a process of its own that outlives a courier that is killed, and that has a group of its own,
# where
# no signal to the courier's group reaches it: wandb-core is started so. If it still sent what it holds beside the
# next
# courier, the same rows could arrive twice. What a process starts inherits its standard input, so the lock is that:
# an
# flock belongs to the open file, and is held until the last process that inherited it has ended.

PATIENCE_S = 30.0
"""Seconds that a leftover is waited for. A sink may also have started something that never ends: then it is told all
the same."""
_LOOK_EVERY_S = 0.1


def take_courier_lock(path: Path, say: Callable[[str], None]) -> int:
    """A descriptor for standard input, which reads as empty; nobody else holds the file, or `say` was told so."""
    descriptor = open_existing(path, os.O_RDONLY, 0o600)
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                say(f"{path.stem}: what an earlier delivery started still runs after {PATIENCE_S:.0f} s; going on")
                return descriptor
            time.sleep(_LOOK_EVERY_S)
        else:
            return descriptor


# Seconds: importing a service's library on a busy machine, and its first connection, take far longer than a delivery.
STARTING_S = 120.0
# Times that a hook may fail over one message for a reason that lies in its own code, not in the service (a garbled
# answer is the service's); then the message is set aside, so that it does not hold up the others.
STUMBLES = 3
_STUMBLE = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError, DataError)


class Courier:
    def __init__(self, outbox: Outbox, spec: SinkSpec, secrets: Secrets, kicks: int) -> None:
        self._outbox = outbox
        self._spec = spec
        self._secrets = secrets
        self._kicks = kicks
        self._open = True
        self._state = outbox.state(spec.name)
        self._context = SinkContext(outbox.session_folder, self._state, outbox.log)
        self._sink: Any = None

    def run(self) -> None:
        """Delivers until the supervisor has closed the pipe (nothing more will come) and everything is delivered."""
        self._retry_refused()
        while True:
            for message in self._outbox.log.read(self._state.progress.position):
                while not self._deliver(message):
                    self._pause(self._state.progress.next_try_at - time.time())
            if not self._open:
                return
            self._pause(None)

    def _deliver(self, message: Message) -> bool:
        """True when the next message may follow."""
        wait = self._state.progress.next_try_at - time.time()
        if wait > 0:
            return False
        self._context.at(message)
        try:
            self._tell(message)
        except Rejected as refusal:
            self._state.set_aside(message.key, message.end, self._words(refusal))
            return True
        except _STUMBLE as error:
            garbled = isinstance(error, json.JSONDecodeError | UnicodeError)
            if self._sink is not None and not garbled and self._state.progress.failures + 1 >= STUMBLES:
                self._state.set_aside(message.key, message.end, self._words(error))
                return True
            self._state.mark_failed(self._words(error))
            return False
        except BaseException as error:  # noqa: BLE001 - a sink may raise anything, SystemExit too; none may end delivery
            asked = error.retry_after_s if isinstance(error, Unavailable) else None
            self._state.mark_failed(self._words(error), asked)
            return False
        self._state.mark_delivered(message.end)
        return True

    def _retry_refused(self) -> None:
        wanted = self._state.to_retry()
        for message in self._outbox.log.read(0) if wanted else ():
            if message.key in wanted:
                self._context.at(message)
                try:
                    self._tell(message)
                    self._state.mark_accepted(message.key)
                except BaseException as error:  # noqa: BLE001 - as above
                    self._state.mark_refused_again(message.key, self._words(error))

    def _tell(self, message: Message) -> None:
        if self._sink is None:
            with _limit(STARTING_S):
                self._sink = self._start()
        own = getattr(self._sink, "delivery_timeout_s", Sink.delivery_timeout_s)
        with _limit(float(self._spec.delivery_timeout_s or own)):
            _HOOKS[message.kind](self, message)

    def _start(self) -> Any:
        if self._spec.missing:
            names = ", ".join(self._spec.missing)
            raise Unavailable(f"set {names} in the environment (secrets are not kept on disk) and flush again")
        first = next(iter(self._outbox.log.read(0)))
        info = SessionInfo.from_json(first.body.get("info") or {"name": "", "started_at": "1970-01-01"})
        environment = dict(first.body.get("environment") or {})
        sink = make_sink(self._spec)
        self._context.info = info
        self._context.session_name = info.name
        self._context.environment = Environment.from_json(environment)
        sink.context = self._context
        sink.initialize(info.name, environment)
        return sink

    def _run_started(self, message: Message) -> None:
        hook: Callable[[str, str], object] | None = getattr(self._sink, "entry_started", None)
        if hook is not None:
            hook(message.body["name"], message.body["run_id"])

    def _run_finished(self, message: Message) -> None:
        body = message.body
        said = select_sink_data(body.get("sink_data"), self._spec.name)
        # Messages that an older Assay left in the outbox have values and units in one.
        values, details = plain(body.get("script_metrics") or {}, body.get("metrics_detail") or {})
        result = {**body, "sink_data": said, "script_metrics": values, "metrics_detail": details}
        self._sink.process_result(result)

    def _session_finished(self, message: Message) -> None:
        info = SessionInfo.from_json(message.body["info"])
        self._context.closing = Closing(info, str(message.body.get("changes") or ""), message.body.get("verdict") or {})
        self._sink.finalize()

    def _pause(self, seconds: float | None) -> None:
        """Waits until there is news, or `seconds` have passed and it is time to try again."""
        if not self._open:
            time.sleep(max(0.0, seconds or 0.0))
            return
        ready, _, _ = select.select([self._kicks], [], [], None if seconds is None else max(0.0, seconds))
        if ready and not os.read(self._kicks, 4096):
            self._open = False

    def _words(self, error: BaseException) -> str:
        text = " ".join(str(error).split()) or "no more is known"
        shown = text if isinstance(error, Unavailable | Rejected) else f"{type(error).__name__}: {text}"
        return self._secrets.mask(shown)[:500]


_HOOKS: dict[str, Callable[[Courier, Message], None]] = {
    # `initialize` is called at every start of a courier, so the first message needs nothing more.
    "session_started": lambda courier, message: None,
    "run_started": Courier._run_started,
    "run_finished": Courier._run_finished,
    "session_finished": Courier._session_finished,
}


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
