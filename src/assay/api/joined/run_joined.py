from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from assay.api.history_levels import HistoryLevels
from assay.api.joined.finish_joined import finish
from assay.api.listeners.console import Console
from assay.api.listeners.guarded import Guarded
from assay.api.listeners.history_listener import HISTORY_TROUBLE
from assay.api.listeners.job_listener import JobListener
from assay.api.listeners.progress import Progress
from assay.api.running.run_inputs import RunInputs
from assay.api.running.run_plan import run_plan
from assay.api.running.session_run import SessionRun
from assay.config.plan import Plan
from assay.errors import UsageError
from assay.history.history import History
from assay.names import unknown
from assay.record import Record
from assay.record.joined.heartbeat import Heartbeat
from assay.record.joined.job_folder import JobFolder
from assay.session.events import Event
from assay.session.folders.open_session import OpenSession
from assay.session.interrupts import Interrupts
from assay.session.joined.finish import is_complete
from assay.session.joined.join import JoinedSession, join_session
from assay.session.joined.other_jobs import OtherJobs
from assay.session.kept.masking import session_masker
from assay.session.kept.requirement_check import EarlierLevels, NoEarlierLevels
from assay.sinks.delivery.delivery import Delivery


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
    return SessionRun(plan, folder, own, interrupted, finished is not None and finished.regressed)


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
    with ExitStack() as closing, Interrupts() as interrupts:
        past = _past(plan, console, closing)
        while True:
            run_plan(
                plan,
                OpenSession(session.folder, session.environment, session.info),
                listen=listen,
                past=past,
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


def _past(plan: Plan, console: Console, closing: ExitStack) -> EarlierLevels:
    """The past, for requirements. Jobs only read the history, and only if they must: SQLite cannot have writers on
    several hosts."""
    required = [requirement for entry in plan.entries for requirement in entry.requirements]
    if all(requirement.max_regression is None for requirement in required):
        return NoEarlierLevels()
    try:
        history = closing.enter_context(History.beside(plan.results_dir, read_only=True))
    except HISTORY_TROUBLE:
        return NoEarlierLevels()
    return HistoryLevels(history, plan.results_dir, console.trouble)


def _say_what_is_open(folder: JobFolder, console: Console) -> None:
    name = folder.path.name
    finishing = folder.jobs.finishing()
    if finishing:
        console.say(f"Session {name}: {finishing}")
        return
    console.say(f"Session {name} is open; `assay run --join {name} --finish` finishes it")
    for entry in folder.jobs.open_entries():
        console.say(f"\tmissing {entry.words}")
