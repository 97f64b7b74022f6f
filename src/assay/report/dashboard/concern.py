"""What needs a person: entries that failed or regressed, and whether somebody has acknowledged it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.analysis import Row, Verdict
from assay.errors import AssayError
from assay.history import History, RunRow
from assay.record import Record, SessionFolder
from assay.report.dashboard.kept.acknowledged import Acknowledgement, Matter
from assay.report.dashboard.trend import Trend
from assay.report.printable import printable
from assay.report.run_folder import RunFolder

_UNWANTED = ("failed", "crashed", "timeout", "invalid", "missed", "not_started")
"""A run that a user interrupted, or that was skipped because another failed, says nothing new."""
_LOG_LINES = 5
_STREAK = 400
"""Runs that are looked back at to tell since when an entry fails."""


@dataclass(frozen=True)
class Concern:
    matter: Matter
    entry: str
    machine: str
    since: str
    """Start of the first session that it is true of."""
    session: str
    """Where to look first: the newest that failed, or the likeliest first at the new level."""
    outcome: str = ""
    reasons: tuple[str, ...] = ()
    log: str = ""
    sessions: int = 1
    """Sessions in a row that failed."""
    trends: tuple[Trend, ...] = ()
    """Trends whose last step is a regression, the largest first."""
    tonight: tuple[tuple[Row, int | None], ...] = ()
    """Regressions by the verdicts of the newest session that no step shows yet, and their series."""
    acknowledged: Acknowledgement | None = None

    @property
    def series(self) -> int | None:
        return self.trends[0].series if self.trends else next((id for _, id in self.tonight if id), None)


def failure_of(history: History, entry: str, machine: str, marks: set[str], latest: RunRow) -> Concern | None:
    """`marks`: keys of the entry's fingerprints on that machine: one that fails early has other ones than when it
    passes, because its parameters were never written."""
    newest = [run for run in history.runs(session=latest.session, entry=entry, limit=_STREAK) if run.counts]
    failed = next((run for run in newest if run.fingerprint in marks and run.outcome in _UNWANTED), None)
    if failed is None:
        return None
    runs = [run for run in history.runs(entry=entry, limit=_STREAK) if run.fingerprint in marks and run.counts]
    since, streak = failed.started_at, {failed.session}
    for run in runs:
        if run.outcome in _UNWANTED:
            since = min(since, run.started_at)
            streak.add(run.session)
        elif run.session != latest.session and run.outcome == "passed":
            break
    try:
        record = history.record(failed.run_id)
    except AssayError:
        record = None  # damaged: that it failed is known all the same
    reasons = record.reasons if record else ()
    return Concern(
        "failed", entry, machine, since, failed.session, failed.outcome.replace("_", " "), reasons,
        _log(history, record), len(streak),
    )  # fmt: skip


def _log(history: History, record: Record | None) -> str:
    if record is None:
        return ""
    row = history.session(record.session)
    for path in (Path(row.folder) if row and row.folder else None, history.path.parent / record.session):
        if path is not None and SessionFolder.is_one(path):
            try:
                said = RunFolder(SessionFolder(path), record).log_tail(_LOG_LINES)
            except (AssayError, OSError):
                continue
            return printable(said, keep_lines=True)
    return ""


def regression_of(entry: str, machine: str, trends: Iterable[Trend], tonight: Sequence[Row]) -> Concern | None:
    trends = list(trends)
    stepped = [one for one in trends if one.last_step and one.last_step.verdict is Verdict.REGRESSED]
    stepped.sort(key=lambda one: (_is_own(one.metric), -(one.last_step.size if one.last_step else 0.0)))
    known = {one.metric: one.series for one in trends}
    told = {one.metric for one in stepped}
    new = tuple((row, known.get(row.metric)) for row in tonight if row.metric not in told)
    if stepped:
        newest = max((one.last_step for one in stepped if one.last_step), key=lambda step: step.at)
        return Concern(
            "regressed", entry, machine, newest.at, newest.session, trends=tuple(stepped), tonight=new,
        )  # fmt: skip
    return Concern("regressed", entry, machine, "", "", tonight=new) if new else None


def _is_own(metric: str) -> bool:
    """Whether Assay measures the metric itself: the program's own metrics say more."""
    return metric == "exec_time_s" or metric.startswith("usage.")


def with_acknowledgement(concern: Concern, given: Iterable[Acknowledgement]) -> Concern:
    for one in given:
        if one.covers(concern.matter, concern.entry, concern.machine, concern.since):
            return replace(concern, acknowledged=one)
    return concern
