"""What the history answers with."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from assay.errors import DataError, UsageError
from assay.history.importers import import_file
from assay.record import SessionFolder
from assay.record.metric import Better
from assay.record.session_folder import SessionKind

# Times as the database keeps them: whole microseconds since 1970, UTC. Text in several ISO forms does not sort.

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(written: str) -> int:
    try:
        parsed = datetime.fromisoformat(written)
    except ValueError:
        raise DataError(f"{written!r} is not a time in ISO 8601") from None
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    return (parsed - _EPOCH) // timedelta(microseconds=1)


def iso(at: int) -> str:
    return (_EPOCH + timedelta(microseconds=at)).isoformat()


@dataclass(frozen=True)
class ImportSource:
    path: Path
    folder: Callable[[], SessionFolder]
    """Reads or makes the folder; may refuse with a `DataError`, which concerns this source alone."""


@dataclass(frozen=True)
class Import:
    results_dir: Path

    def sources(self, paths: Sequence[Path]) -> Iterator[ImportSource]:
        """Each session, folder of sessions or file of another tool that `paths` name; without any, all sessions."""
        for path in paths or [self.results_dir]:
            if SessionFolder.is_one(path):
                yield _as_it_is(path)
            elif os.path.isdir(path):
                # By name and not by what is in them: one that is damaged must be told, not passed over.
                found = sorted(inside for inside in path.iterdir() if SessionFolder.is_one(inside))
                if not found:
                    raise UsageError(f"{path} holds no session folder")
                yield from map(_as_it_is, found)
            else:
                yield ImportSource(path, partial(import_file, path, self.results_dir))


def _as_it_is(path: Path) -> ImportSource:
    return ImportSource(path, partial(SessionFolder, path))


@dataclass(frozen=True)
class SessionRow:
    name: str
    folder: str | None
    started_at: str
    finished_at: str | None
    status: str
    git_commit: str | None
    git_branch: str | None
    git_dirty: bool | None
    machine: str
    host: str
    reason: str | None
    planned: int
    outcomes: Mapping[str, int]
    """How many counted runs ended each way."""
    kind: SessionKind = "run"
    tags: tuple[str, ...] = ()
    """Its own, not those of its entries."""


@dataclass(frozen=True)
class RunRow:
    run_id: str
    session: str
    entry: str
    fingerprint: str
    started_at: str
    outcome: str
    counts: bool
    exec_time_s: float
    git_commit: str | None


@dataclass(frozen=True)
class Track:
    """One fingerprint of an entry, with its latest counted run: what a row of the dashboard's grid stands for."""

    fingerprint: str
    entry: str
    params: str
    workload: str
    machine: str
    project: str
    latest: RunRow


@dataclass(frozen=True)
class Series:
    """One metric of one fingerprint over time."""

    id: int
    fingerprint: str
    entry: str
    metric: str
    unit: str | None
    better: Better | None
    points: int
    latest: float
    latest_at: str


@dataclass(frozen=True)
class Point:
    started_at: str
    value: float
    run_id: str
    session: str
    git_commit: str | None
    script: str = ""
    """Digest of the benchmark script."""


@dataclass(frozen=True)
class Accepted:
    """A level that somebody accepted as the baseline of a series, from a session on."""

    id: int
    fingerprint: str
    entry: str
    metric: str
    """Empty: every metric of the entry."""
    session: str
    started_at: str
    """When the first accepted run began."""
    reason: str
    who: str
    at: str

    def covers(self, metric: str) -> bool:
        return self.metric in ("", metric)


@dataclass(frozen=True)
class SessionValue:
    entry: str
    metric: str
    fingerprint: str
    unit: str | None
    better: Better | None
    run_id: str
    value: float


@dataclass(frozen=True)
class ExportRow:
    """One value with all that is known of where it comes from: a row of an export."""

    session: str
    run_id: str
    entry: str
    started_at: str
    git_commit: str | None
    outcome: str
    fingerprint: str
    params: str
    workload: str
    machine: str
    metric: str
    unit: str | None
    better: Better | None
    value: float
