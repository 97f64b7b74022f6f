from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from assay.errors import DataError
from assay.record import Environment, SessionFolder
from assay.record.joined.job import Job
from assay.record.joined.job_folder import JobFolder
from assay.record.writing.strict_json import encode
from assay.session.folders.open_session import OpenSession
from assay.session.joined.lost_record import make_lost_record
from assay.untrusted.read_limit import SESSION
from assay.untrusted.text_file import read_text
from assay.untrusted.writing import write_atomic

POLL_S = 0.25


def is_complete(folder: JobFolder) -> bool:
    """Whether everything expected is there and no job is at anything else. The last job to end sees it so."""
    jobs = folder.jobs
    return bool(jobs.entries_expected()) and not jobs.open_entries() and not jobs.running()


def finish_session(folder: JobFolder, say: Callable[[str], None]) -> OpenSession | None:
    """Puts the jobs' parts together. None: another job does so.

    May be done again after a kill at any moment: every file is made anew from the parts and put in place whole.
    """
    jobs = folder.jobs
    if not jobs.claim_finish(folder.job):
        return None
    _wait(folder, say)
    session = SessionFolder(folder.path)
    missing = [entry.name for entry in jobs.open_entries()]
    environment = session.environment()
    info = session.info()
    records = jobs.records()
    recorded = {record.run_id for record in records}
    lost = [make_lost_record(job, info.name, environment) for job in jobs.all()]
    records += [record for record in lost if record is not None and record.run_id not in recorded]
    lines = [encode(record.to_json()) for record in records]
    planned = jobs.entries_planned()
    info = replace(
        info,
        status="interrupted" if missing else "finished",
        finished_at=info.finished_at or datetime.now(UTC).isoformat(timespec="microseconds"),
        planned=planned,
        plan={**info.plan, "entries": None, "entries_exact": list(_list_asked(jobs.all()))},
    )
    write_atomic(folder.path / "env.json", encode(_environments(folder, environment), indent=2))
    write_atomic(session.results, "".join(f"{line}\n" for line in lines))
    write_atomic(session.log, _logs(folder))
    session.write_info(info)
    return OpenSession(session, environment, info)


def _wait(folder: JobFolder, say: Callable[[str], None]) -> None:
    """Waits for jobs that still run: a record that came after the report would be missing from it."""
    said: set[str] = set()
    while True:
        others = [job for job in folder.jobs.running() if job.id != folder.job.id]
        if not others:
            return
        for job in others:
            if job.id not in said:
                what = f", which runs {', '.join(job.planned)}" if job.planned else ""
                say(f"Waiting for {job.words}{what}")
                said.add(job.id)
        time.sleep(POLL_S)


def _list_asked(jobs: list[Job]) -> tuple[str, ...]:
    """Entries that the jobs were asked for, kept for `--resume`. What those need comes with them."""
    joined = [job for job in jobs if job.status != "refused"]
    return tuple(dict.fromkeys(name for job in joined for name in (*job.asked, *job.expect)))


def _environments(folder: JobFolder, first: Environment) -> dict[str, Any]:
    """Environment of the job that made the session, as ever, and those of all jobs beside it. A job killed early may
    have none."""
    own = {}
    for job in folder.jobs.all():
        if job.planned and job.status != "refused":
            with suppress(DataError):
                own[job.id] = JobFolder(folder.path, job).environment().to_json()
    return {**first.to_json(), "jobs": own}


def _logs(folder: JobFolder) -> str:
    parts = []
    for job in folder.jobs.all():
        log = JobFolder(folder.path, job).log
        if log.is_file():
            parts.append(f"{job.words}:\n{read_text(log, SESSION)}")
    return "".join(parts)
