from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from assay.api.attached import Attached
from assay.api.listeners.console import Console
from assay.api.running.session_run import SessionRun
from assay.config.plan import Plan
from assay.errors import UsageError
from assay.history.sessions import SessionNotFound
from assay.record import SessionFolder
from assay.record.joined.heartbeat import Heartbeat
from assay.record.joined.job_folder import JobFolder
from assay.record.joined.jobs import Jobs
from assay.record.secrecy.secrets import Masker
from assay.session.events import SessionFinished, SessionStarted
from assay.session.folders.open_session import OpenSession
from assay.session.joined.finish import finish_session
from assay.session.joined.join import new_job, session_path
from assay.sinks.delivery.delivery import Delivery
from assay.untrusted.writing import touch


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
    return SessionRun(plan, done, tuple(done.records()), regressed=finished.regressed)


@dataclass(frozen=True)
class Finished:
    session: OpenSession
    regressed: bool


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
    return Finished(finished, attached.regressed)


def _refuse(path: Path) -> None:
    if not SessionFolder.is_one(path):
        raise SessionNotFound(
            f"there is no session {path.name!r} in {path.parent}; --results-dir DIR says where it is, if elsewhere"
        )
    info = SessionFolder(path).info()
    if not info.joined:
        raise UsageError(f"session {path.name} is one of a single process: only what jobs have joined can be finished")
