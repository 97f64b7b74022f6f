"""What a session tells its listeners. Frozen. A session trusts its listener: `api` puts a guard around each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

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
