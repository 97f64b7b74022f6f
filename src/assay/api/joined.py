from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.api.console import Console, Progress
from assay.api.listeners import Guarded, JobListener
from assay.api.run import SessionRun
from assay.api.run_inputs import RunInputs
from assay.api.run_plan import Attached, run_plan
from assay.config.plan import Plan
from assay.errors import UsageError
from assay.files.writing import touch
from assay.history.find_session import SessionNotFound
from assay.names import unknown
from assay.record import Record, SessionFolder
from assay.record.heartbeat import Heartbeat
from assay.record.jobs import Jobs
from assay.record.secrets import Masker
from assay.record.session_folder import JobFolder
from assay.session.events import Event, Interrupts, SessionFinished, SessionStarted
from assay.session.joined import (
    JoinedSession,
    OtherJobs,
    finish_session,
    is_complete,
    join_session,
    new_job,
    session_path,
)
from assay.session.results.masked_records import session_masker
from assay.session.workspace import OpenSession
from assay.sinks.delivery.delivery import Delivery

if TYPE_CHECKING:
    from assay.analysis.verdict import VerdictDocument


def finish_joined(name: str, results_dir: Path, command: Sequence[str]) -> SessionRun:
    """Ends a session with what its jobs have left; those that still run are waited for."""
    path = session_path(results_dir, name).absolute()
    _refuse(path)
    plan = Plan(entries=(), results_dir=path.parent, artifacts_dir=path.parent / "artifacts")
    if Jobs(path).all_told.is_file():
        done = SessionFolder(path)
        print(f"Session {name} was finished at {done.info().finished_at}: there is nothing to do")
        return SessionRun(plan, done, tuple(done.records()))
    masker = Masker(os.environ)
    folder = new_job(path, masker.words(list(command)))
    with Heartbeat(folder.own / "alive"), Console(folder.log, masker) as console:
        finished = finish(folder, console, masker)
        if finished is None:
            folder.refuse()
            raise UsageError(f"session {name} is not finished by this command: {folder.jobs.finishing()}")
        folder.write_info(replace(finished.session.info, status="finished"))
        for entry in folder.jobs.open_entries():
            console.note(f"finished without {entry.words}")
    done = finished.session.folder
    return SessionRun(plan, done, tuple(done.records()), verdict=finished.verdict)


@dataclass(frozen=True)
class Finished:
    session: OpenSession
    verdict: VerdictDocument | None


def finish(folder: JobFolder, console: Console, masker: Masker) -> Finished | None:
    """Puts the parts together and tells everybody once: history, report, sinks. None: another job does so."""
    name = folder.path.name
    try:
        finished = finish_session(folder, console.say)
    except OSError as error:
        with suppress(OSError):
            folder.give_up()
        raise UsageError(
            f"session {name} could not be finished: {error.strerror}: {error.filename}; "
            f"nothing is lost, and `assay run --join {name} --finish` tries again"
        ) from None
    if finished is None:
        return None
    records = finished.folder.records()
    delivery = Delivery.prepared(folder.path)
    with Attached(folder.path.parent, finished.folder, delivery, masker, progress=False) as attached:
        attached.listen(SessionStarted(finished.folder, finished.info, finished.environment, len(records)))
        attached.listen(SessionFinished(finished.folder, finished.info, tuple(records)))
    touch(folder.jobs.all_told)
    return Finished(finished, attached.verdict)


def _refuse(path: Path) -> None:
    if not SessionFolder.is_one(path):
        raise SessionNotFound(
            f"there is no session {path.name!r} in {path.parent}; --results-dir DIR says where it is, if elsewhere"
        )
    info = SessionFolder(path).info()
    if not info.joined:
        raise UsageError(f"session {path.name} is one of a single process: only what jobs have joined can be finished")


def run_joined(
    inputs: RunInputs, name: str, *, expect: Sequence[str] = (), reason: str | None = None, command: Sequence[str]
) -> SessionRun:
    """The records of this job's own entries and of what those need. History and sinks hear of them at the end."""
    plan = _plan(inputs, expect)
    masker = session_masker(plan, os.environ, command)
    session = join_session(plan, name, expect=expect, reason=reason, command=command, masker=masker)
    folder = session.folder
    with Heartbeat(folder.own / "alive"), Console(folder.log, masker) as console:
        _prepare_sinks(folder, plan, console)
        records, interrupted = _run(plan, session, console)
        finished = finish(folder, console, masker) if is_complete(folder) else None
        if finished is None:
            _say_what_is_open(folder, console)
        console.say_troubles()
    own = tuple(record for record in records if record.name in folder.job.planned)
    return SessionRun(plan, folder, own, interrupted, None if finished is None else finished.verdict)


def _plan(inputs: RunInputs, expect: Sequence[str]) -> Plan:
    """The plan with its entries in the order of the files, whatever was chosen: jobs that wait for each other's entries
    rely on one order."""
    everything = [entry.name for entry in replace(inputs, entries=None, entries_exact=None).plan().entries]
    missing = [name for name in expect if name not in everything]
    if missing:
        raise UsageError(f"--expect: {unknown('entry', missing[0], everything)}")
    plan = inputs.plan()
    return replace(plan, entries=tuple(sorted(plan.entries, key=lambda entry: everything.index(entry.name))))


def _run(plan: Plan, session: JoinedSession, console: Console) -> tuple[list[Record], bool]:
    progress = Guarded("progress", Progress(console, plan.notes), console.trouble)
    keeping = Guarded("what this job is at", JobListener(session.folder, session.environment), console.trouble)

    def listen(event: Event) -> None:
        keeping(event)
        progress(event)

    others = OtherJobs(session.folder, console.say)
    with Interrupts() as interrupts:
        while True:
            run_plan(
                plan,
                OpenSession(session.folder, session.environment, session.info),
                listen=listen,
                interrupts=interrupts,
                elsewhere=others,
            )
            if interrupts.requested or not others.have_left(lambda: interrupts.requested):
                break
            session.folder.go_on()
    return session.folder.jobs.records(), interrupts.requested


def _prepare_sinks(folder: JobFolder, plan: Plan, console: Console) -> None:
    """Writes down which sinks the session has: whoever finishes it may not have the files."""
    try:
        Delivery(folder.path, plan.sinks).prepare()
    except OSError as error:
        console.trouble(f"the sinks could not be written down, and will be told nothing: {error}")


def _say_what_is_open(folder: JobFolder, console: Console) -> None:
    name = folder.path.name
    finishing = folder.jobs.finishing()
    if finishing:
        console.say(f"Session {name}: {finishing}")
        return
    console.say(f"Session {name} is open; `assay run --join {name} --finish` finishes it")
    for entry in folder.jobs.open_entries():
        console.say(f"\tmissing {entry.words}")
