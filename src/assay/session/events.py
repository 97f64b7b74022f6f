"""What a session tells its listeners. Frozen. A session trusts its listener: `api` puts a guard around each."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Protocol, Self

from assay.record import Environment, Record, SessionFolder, SessionInfo


@dataclass(frozen=True)
class SessionStarted:
    folder: SessionFolder
    info: SessionInfo
    environment: Environment
    runs: int
    """Number of planned runs, warm-ups and repeats among them; retries come on top."""
    warnings: tuple[str, ...] = ()
    runs_of: Mapping[str, int] = field(default_factory=dict)
    """Number of runs that count, by entry, in the order of the plan; warm-ups do not count."""


@dataclass(frozen=True)
class RunStarted:
    run_id: str
    name: str
    label: str
    """The entry's name, with `run 2 of 5`, `warm-up 1` or `retry 1` where there are several."""
    command: str
    timeout_s: float
    folder: Path


@dataclass(frozen=True)
class RunSampled:
    """What a run uses, told twice a second while it goes on."""

    run_id: str
    elapsed_s: float
    cpu_s: float
    rss_mb: float


@dataclass(frozen=True)
class RunFinished:
    record: Record
    stand_ins: tuple[str, ...] = ()
    """Modules of other frameworks that the program imported and Assay answered with its own."""


@dataclass(frozen=True)
class SessionFinished:
    folder: SessionFolder
    info: SessionInfo
    records: tuple[Record, ...]
    warnings: tuple[str, ...] = ()
    """What is to be told of the session's end and is in no record."""


Event = SessionStarted | RunStarted | RunSampled | RunFinished | SessionFinished
Listener = Callable[[Event], None]


@dataclass(frozen=True)
class Share:
    """How much of an entry is this process's, and what others have recorded of it."""

    records: Sequence[Record] = ()
    runs_here: bool = True
    """Whether this process is to run what has no record yet, or has given up waiting."""


class Elsewhere(Protocol):
    """Entries of a plan that another process may run for the same session."""

    def share(self, entry: str, give_up: Callable[[], bool]) -> Share:
        """Return who runs `entry`, once that is this process or another one has a result."""
        ...


class Nowhere:
    """A session of one process: everything is run here."""

    def share(self, entry: str, give_up: Callable[[], bool]) -> Share:
        return Share()


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
