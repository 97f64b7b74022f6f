from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from assay.config.entry_name import is_name
from assay.config.plan import Plan
from assay.errors import AssayError, UsageError
from assay.files.json_text import encode
from assay.files.reading import check_own_folders
from assay.files.writing import write_atomic
from assay.record import RESULTS_FILE, Environment, Fingerprint, Outcome, Record, SessionFolder
from assay.record.jobs import NAME as JOBS
from assay.record.results_file import append_record, read_records
from assay.session.machine_watch import end_leftover_programs
from assay.session.runs import find_started_runs, order_runs
from assay.session.workspace import OpenSession, only_one

OWN_FOLDERS = (JOBS, "artifacts", "outbox", "profiles", "sinks")
"""Folders that Assay itself writes to in a session's folder, beside those of entries."""


def reopen_session(folder: SessionFolder, plan: Plan) -> OpenSession:
    """Prepares a session that was cut short: what was in progress is recorded as interrupted, then runs again.

    The session's results hold each run once, so interrupted records move to their entry's own file.
    """
    try:
        check_own_folders(folder.path, OWN_FOLDERS)
        with only_one(folder):
            end_leftover_programs(folder.path)
            return _reopen(folder, plan)
    except OSError as error:
        raise UsageError(
            f"session {folder.path.name} cannot go on: {error.strerror or error}: {error.filename or folder.path}"
        ) from None


def is_complete(folder: SessionFolder, plan: Plan) -> bool:
    """Whether the session ended by itself and nothing of the plan is left to run. Programs of it that still run, which
    nobody waits for any more, are ended."""
    if folder.info().status != "finished":
        return False
    with only_one(folder):
        end_leftover_programs(folder.path)
    done = {record.run_id for record in folder.records() if record.outcome is not Outcome.INTERRUPTED}
    return all(f"{folder.info().name}/{run.key}" in done for run in order_runs(plan))


def _reopen(folder: SessionFolder, plan: Plan) -> OpenSession:
    info = folder.info()
    environment = folder.environment()
    planned = {entry.name for entry in plan.entries}
    records = folder.records()
    again: list[Record] = []
    kept: list[Record] = []
    for record in records:
        (again if record.outcome is Outcome.INTERRUPTED and record.name in planned else kept).append(record)
    for record in again:
        keep_aside(folder, record)
    done = {record.run_id for record in kept}
    told = {record.run_id for record in again}
    for run in find_started_runs(folder.path):
        run_id = f"{info.name}/{run.key}"
        if run_id in done or run_id in told or run.entry not in planned.union(info.planned):
            continue
        record = make_interrupted_record(run_id, run.entry, info.name, environment, run.started)
        if run.entry in planned:
            keep_aside(folder, record)
        else:  # Nothing will run it again: this is all that will ever be known of it.
            kept.append(record)
    _rewrite(folder, kept)
    # Whatever jobs began it: from here on one process has it.
    info = replace(info, status="running", finished_at=None, pid=os.getpid(), joined=False)
    folder.write_info(info)
    return OpenSession(folder, environment, info)


def _rewrite(folder: SessionFolder, records: list[Record]) -> None:
    lines = [encode(record.to_json()) for record in records]
    write_atomic(folder.results, "".join(f"{line}\n" for line in lines))


def keep_aside(folder: SessionFolder, record: Record) -> None:
    """Keeps a record in the entry's own file. What stands in a session folder is not to be believed: a name that could
    not be an entry's has no folder, and a link leads elsewhere."""
    own = folder.path / record.name / RESULTS_FILE
    if not is_name(record.name) or own.parent.is_symlink() or _is_there(own, record):
        return
    own.parent.mkdir(exist_ok=True)
    if own.is_symlink() or (own.exists() and not own.is_file()):
        os.replace(own, own.with_name(f"{own.name}.not-ours"))  # put there by the program
    append_record(own, replace(record, superseded=True))


def _is_there(own: Path, record: Record) -> bool:
    """Whether the record is in that file already: an earlier resumption may have been cut short after writing it."""
    with suppress(AssayError, OSError):
        return any((one.run_id, one.started_at) == (record.run_id, record.started_at) for one in read_records(own))
    return False


def make_interrupted_record(run_id: str, name: str, session: str, environment: Environment, at: float) -> Record:
    return Record(
        name=name,
        session=session,
        run_id=run_id,
        outcome=Outcome.INTERRUPTED,
        started_at=datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds"),
        fingerprint=Fingerprint(name, "", "", environment.machine_class),
        reasons=("Assay ended while this was running",),
        git_commit=environment.git_commit,
    )
