from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from assay.capture.environment import capture_environment
from assay.config.entries.entry_name import check_name
from assay.config.plan import Plan
from assay.errors import UsageError
from assay.names import quote
from assay.record import Environment, SessionFolder, SessionInfo
from assay.record.joined.heartbeat import place, start_ticks
from assay.record.joined.job import Job
from assay.record.joined.job_folder import JobFolder
from assay.record.joined.jobs import NAME as JOBS
from assay.record.joined.jobs import Jobs
from assay.record.secrecy.secrets import Masker
from assay.record.writing.strict_json import encode
from assay.session.kept.masking import mask_environment, mask_inputs
from assay.untrusted.regular_file import check_own_folders
from assay.untrusted.writing import create_exclusive, touch


@dataclass(frozen=True)
class JoinedSession:
    """A session that this process has joined as a job."""

    folder: JobFolder
    environment: Environment
    info: SessionInfo


def join_session(
    plan: Plan,
    name: str,
    *,
    expect: Sequence[str] = (),
    reason: str | None = None,
    command: Sequence[str] = (),
    masker: Masker,
) -> JoinedSession:
    """Adds this process to the session, which the first job makes. What the plan was asked for, no other job may run.

    A job says who it is before it looks whether the session is being finished, and who finishes claims that before
    looking for jobs: one of them always sees the other.
    """
    path = session_path(plan.results_dir, name)
    try:
        plan.results_dir.mkdir(parents=True, exist_ok=True)
        path.mkdir(exist_ok=True)
        check_own_folders(path, (JOBS, "artifacts"))
        _refuse_closed(path)
        folder = new_job(path, masker.words(list(command)), plan, expect)
        first = plan.config_files[0].absolute().parent if plan.config_files else Path.cwd()
        captured = capture_environment(first, folder.own / "artifacts", masker.text(reason) if reason else None)
        environment = mask_environment(captured, masker)
        folder.write_own_environment(environment)
        _make_session(folder, plan, environment, masker)
        _refuse_unless_open(folder)
        _claim(folder, plan.asked)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}: {error.filename}") from None
    return JoinedSession(folder, environment, SessionFolder(path).info())


def session_path(results_dir: Path, name: str) -> Path:
    try:
        return results_dir / check_name(name)
    except ValueError as error:
        raise UsageError(f"--join {name!r}: {error}") from None


def new_job(path: Path, command: Sequence[str], plan: Plan | None = None, expect: Sequence[str] = ()) -> JobFolder:
    """Without a plan: a job that only finishes the session."""
    entries = plan.entries if plan is not None else ()
    now = datetime.now(UTC)
    host = socket.gethostname()
    word = "".join(letter if letter.isalnum() else "-" for letter in host)[:40]
    job = Job(
        id=f"{now:%Y%m%dT%H%M%S.%f}-{word}-{os.getpid()}",
        host=host,
        pid=os.getpid(),
        place=place(),
        ticks=start_ticks(os.getpid()),
        started_at=now.isoformat(timespec="microseconds"),
        asked=plan.asked if plan is not None else (),
        planned=tuple(entry.name for entry in entries),
        runs={entry.name: entry.warmup + entry.repeat for entry in entries},
        expect=tuple(expect),
        command=tuple(command),
    )
    folder = JobFolder(path, job)
    folder.own.mkdir(parents=True)
    touch(folder.own / "alive")
    folder.jobs.write(job)
    return folder


def _make_session(folder: JobFolder, plan: Plan, environment: Environment, masker: Masker) -> None:
    """Makes the session, unless another job has. session.json comes last: a folder that has it is complete."""
    job = folder.job
    create_exclusive(folder.path / "env.json", encode(environment.to_json(), indent=2))
    info = SessionInfo(
        name=folder.path.name,
        started_at=job.started_at,
        command=job.command,
        config_files=tuple(str(file.absolute()) for file in plan.config_files),
        reason=environment.reason,
        pid=job.pid,
        planned=job.planned,
        plan=mask_inputs(plan.inputs, masker),
        tags=plan.tags,
        joined=True,
    )
    with suppress(FileExistsError):
        shutil.copytree(folder.own / "artifacts", folder.path / "artifacts")
    create_exclusive(folder.path / "session.json", encode(info.to_json(), indent=2))


def _refuse_closed(path: Path) -> None:
    if SessionFolder.is_one(path):
        info = SessionFolder(path).info()
        if not info.joined:
            raise UsageError(f"--join {path.name}: {path} is a session of one process; choose another name")
        if info.status != "running":
            raise UsageError(_tell_closed(path.name, info))
    elif not Jobs(path).exist and any(path.iterdir()):
        raise UsageError(f"--join {path.name}: {path} holds something that is not a session; choose another name")


def _refuse_unless_open(folder: JobFolder) -> None:
    finishing = folder.jobs.finishing()
    if not finishing:
        return
    folder.refuse()
    info = SessionFolder(folder.path).info()
    if info.status != "running":
        raise UsageError(_tell_closed(folder.path.name, info))
    raise UsageError(f"no job can join session {folder.path.name} any more: {finishing}")


def _tell_closed(name: str, info: SessionInfo) -> str:
    said = f"session {name} was finished at {info.finished_at}: no job can join it any more"
    if info.status == "interrupted":
        return f"{said}; `assay run --resume {name}` runs what is missing in it"
    return f"{said}; choose another name"


def _claim(folder: JobFolder, asked: Sequence[str]) -> None:
    """Claim the entries that the job was asked for; raise UsageError if a running job has one, or if all are done.

    A job that was cut short and is started again finds some of its entries done. It keeps those and runs the rest:
    refusing it would leave the rest to nobody.
    """
    jobs, job = folder.jobs, folder.job
    done: dict[str, str] = {}
    for name in asked:
        while (holder := jobs.take(name, job)) != job.id:
            other = jobs.find(holder)
            if other is not None and name not in other.asked:
                break  # a job that runs it only because another entry needs it leaves the result to this job too
            words = other.words if other else holder
            if other is not None and jobs.is_running(other):
                _refuse_taken(folder, name, f"{'was' if jobs.is_done(name) else 'is'} run by {words}")
            if jobs.is_done(name):
                done[name] = words
                break
    if asked and len(done) == len(asked):
        _refuse_taken(folder, asked[0], f"was run by {done[asked[0]]}")


def _refuse_taken(folder: JobFolder, name: str, why: str) -> NoReturn:
    folder.refuse()
    raise UsageError(
        f"entry {quote(name)} of session {folder.path.name} {why}; "
        "nothing was run here, since an entry belongs to one job"
    )
