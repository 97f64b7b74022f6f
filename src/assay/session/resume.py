from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime

from assay.config.plan import Plan
from assay.record import Environment, Fingerprint, Outcome, Record, SessionFolder
from assay.record.atomic_file import write_atomic
from assay.record.results_file import append_record
from assay.record.strict_json import encode
from assay.session.open_session import OpenSession
from assay.session.run import ordered_runs


def reopen_session(folder: SessionFolder, plan: Plan) -> OpenSession:
    """Prepares a session that was cut short: what was in progress is recorded as interrupted, then runs again.

    The session's results hold each run once, so interrupted records move to their entry's own file.
    """
    info = folder.info()
    environment = folder.environment()
    finished = []
    for record in folder.records():
        if record.outcome is Outcome.INTERRUPTED:
            keep_aside(folder, record)
        else:
            finished.append(record)
    _rewrite(folder, finished)
    done = {record.run_id for record in finished}
    for run in ordered_runs(plan):
        run_id = f"{info.name}/{run.key}"
        started = folder.path / run.folder / "logs"
        if run_id not in done and started.is_dir():
            at = started.stat().st_mtime
            keep_aside(folder, interrupted_record(run_id, run.entry.name, info.name, environment, at))
    # Whatever jobs began it: from here on one process has it.
    info = replace(info, status="running", finished_at=None, pid=os.getpid(), joined=False)
    folder.write_info(info)
    return OpenSession(folder, environment, info)


def _rewrite(folder: SessionFolder, records: list[Record]) -> None:
    lines = [encode(record.to_json()) for record in records]
    write_atomic(folder.results, "".join(f"{line}\n" for line in lines))


def keep_aside(folder: SessionFolder, record: Record) -> None:
    own = folder.path / record.name / "results.jsonl"
    own.parent.mkdir(parents=True, exist_ok=True)
    append_record(own, replace(record, superseded=True))


def interrupted_record(run_id: str, name: str, session: str, environment: Environment, at: float) -> Record:
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
