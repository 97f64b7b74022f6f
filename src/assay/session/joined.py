from __future__ import annotations

import os
import shutil
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from assay.config.entry_name import check_name
from assay.config.plan import Plan
from assay.errors import DataError, UsageError
from assay.files.json_text import encode
from assay.files.reading import SESSION, check_own_folders, read_text
from assay.files.writing import create_exclusive, touch, write_atomic
from assay.names import quote
from assay.record import ENVIRONMENT_FILE, SESSION_FILE, Environment, Record, SessionFolder, SessionInfo
from assay.record.heartbeat import place, start_ticks
from assay.record.jobs import NAME as JOBS
from assay.record.jobs import Job, Jobs
from assay.record.secrets import Masker
from assay.record.session_folder import JobFolder
from assay.session.capture_environment import capture_environment
from assay.session.events import Share
from assay.session.results.masked_records import mask_environment, mask_inputs
from assay.session.resume import make_interrupted_record
from assay.session.workspace import OpenSession


def make_lost_record(job: Job, session: str, environment: Environment) -> Record | None:
    """Record of the run that a job was at when it was killed. None if it was at none."""
    if job.at is None:
        return None
    at = datetime.fromisoformat(job.at.started_at).timestamp()
    record = make_interrupted_record(job.at.run_id, job.at.name, session, environment, at)
    return replace(record, host=job.host, reasons=(f"{job.words} ended while this was running",))


POLL_S = 0.25


class OtherJobs:
    """What other jobs of the session run of this job's plan: data setups, and entries that its own ones need.

    Jobs cannot wait for each other in a circle: each goes through its plan in the order of the files, and one result of
    an entry is enough to go on.
    """

    def __init__(self, folder: JobFolder, say: Callable[[str], None]) -> None:
        self._folder = folder
        self._say = say
        self._ours: set[str] = set()
        self._said: dict[str, str] = {}
        """The holder of an entry that was last named for it."""

    def share(self, entry: str, give_up: Callable[[], bool]) -> Share:
        jobs, job = self._folder.jobs, self._folder.job
        while not give_up():
            holder = jobs.take(entry, job)
            if holder == job.id:
                return Share(self._taken_over(entry))
            found = [record for record in self._recorded(entry) if record.counts]
            if found:
                self._tell(entry, holder, waits=False)
                return Share(found, runs_here=False)
            self._tell(entry, holder, waits=True)
            time.sleep(POLL_S)
        return Share()

    def _taken_over(self, entry: str) -> Sequence[Record]:
        """Return what a dead job recorded before this one took the entry over, which may be after this one began."""
        if entry in self._ours:
            return ()
        self._ours.add(entry)
        return self._recorded(entry)

    def _recorded(self, entry: str) -> list[Record]:
        return [record for record in self._folder.records() if record.name == entry]

    def _tell(self, entry: str, holder: str, *, waits: bool) -> None:
        """Say once who has an entry."""
        if self._said.get(entry) == holder:
            return
        self._said[entry] = holder
        jobs = self._folder.jobs
        other = jobs.find(holder)
        words = other.words if other else holder
        if waits:
            self._say(f"\tWaiting for {entry}, which {words} runs")
        else:
            self._say(f"\t{entry} {'was' if jobs.is_done(entry) else 'is'} run by {words}")

    def have_left(self, give_up: Callable[[], bool]) -> bool:
        """Waits until all that this job was asked for is done; True if a job that was at some of it has ended before.

        Only for a job that has nothing more to run itself: nobody waits for it.
        """
        jobs, job = self._folder.jobs, self._folder.job
        while not give_up():
            asked = [entry for entry in jobs.open_entries() if entry.name in job.asked]
            # What this job holds itself it has just gone through: going through it again would change nothing.
            left = [entry for entry in asked if entry.job is None or entry.job.id != job.id]
            if not left:
                return False
            if any(not entry.running for entry in left):
                return True
            time.sleep(POLL_S)
        return False


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
    create_exclusive(folder.path / ENVIRONMENT_FILE, encode(environment.to_json(), indent=2))
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
    create_exclusive(folder.path / SESSION_FILE, encode(info.to_json(), indent=2))


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
    write_atomic(folder.path / ENVIRONMENT_FILE, encode(_environments(folder, environment), indent=2))
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
