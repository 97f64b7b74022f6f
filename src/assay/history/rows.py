"""What the history answers with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.record.metric import Better
from assay.record.session_files.session_kind import SessionKind


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
