from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from assay.compat.user_code import read_stand_ins
from assay.config.entry import Entry
from assay.config.plan import Plan
from assay.errors import AssayError, UsageError
from assay.process.spec import ProcessResult
from assay.record import ENVIRONMENT_FILE, RESULTS_FILE, SESSION_FILE, Outcome, Record, SessionFolder, SessionInfo
from assay.record.secrets import Masker
from assay.record.session_folder import SessionKind, Status
from assay.session.capture_environment import capture_environment
from assay.session.events import Elsewhere, Interrupts, Listener, Nowhere, RunFinished, SessionFinished, SessionStarted
from assay.session.execution import Execution
from assay.session.machine_watch import Neighbours
from assay.session.preflight import Interpreters, preflight
from assay.session.results.judge import judge
from assay.session.results.masked_records import KeptRecords, mask_environment, mask_inputs, session_masker
from assay.session.runs import Run, order_runs
from assay.session.service.services import Services
from assay.session.workspace import (
    OpenSession,
    Reserve,
    Workspace,
    make_way,
    make_way_for_folder,
    only_one,
    remove_links,
    session_name,
)


def start_session(
    plan: Plan,
    name: str | None,
    reason: str | None,
    command: Sequence[str],
    masker: Masker,
    kind: SessionKind = "run",
) -> OpenSession:
    """Makes the folder of a new session, with all that is known before the first run."""
    try:
        return _start(plan, name, reason, command, masker, kind)
    except OSError as error:
        where = error.filename or plan.results_dir
        raise UsageError(f"results_dir {plan.results_dir} cannot be written: {error.strerror}: {where}") from None


def _start(
    plan: Plan, name: str | None, reason: str | None, command: Sequence[str], masker: Masker, kind: SessionKind
) -> OpenSession:
    now = datetime.now(UTC)
    plan.results_dir.mkdir(parents=True, exist_ok=True)
    folder = _make(plan, name, now)
    repository = plan.config_files[0].absolute().parent if plan.config_files else Path.cwd()
    said = masker.text(reason) if reason else None
    environment = mask_environment(
        capture_environment(repository, folder.path / "artifacts", said, plan.interpreter), masker
    )
    info = SessionInfo(
        name=folder.path.name,
        started_at=now.isoformat(timespec="microseconds"),
        command=tuple(masker.words(list(command))),
        config_files=tuple(str(file.absolute()) for file in plan.config_files),
        reason=environment.reason,
        pid=os.getpid(),
        planned=tuple(entry.name for entry in plan.entries),
        plan=mask_inputs(plan.inputs, masker),
        kind=kind,
        tags=plan.tags,
        entry_tags={entry.name: entry.tags for entry in plan.entries if entry.tags},
        runs={entry.name: entry.warmup + entry.repeat for entry in plan.entries},
        limits_s={entry.name: entry.timeout_s for entry in plan.entries},
        viewer_url=masker.text(viewer) if (viewer := plan.viewer_url(folder.path)) else None,
    )
    folder.write_environment(environment)
    folder.write_info(info)
    return OpenSession(folder, environment, info)


def _make(plan: Plan, name: str | None, now: datetime) -> SessionFolder:
    """Two sessions that start in one second each get their own folder: the file system decides who was first."""
    while True:
        path = plan.results_dir / session_name(name, plan.older_form, now, plan.results_dir)
        try:
            path.mkdir()
        except FileExistsError:
            continue
        return SessionFolder(path)


class Session:
    """Carries out a plan in a folder. Results are on disk after every run; what was finished is never run again."""

    def __init__(
        self,
        plan: Plan,
        session: OpenSession,
        listen: Listener,
        variables: Mapping[str, str],
        interrupts: Interrupts | None = None,
        order: Callable[[Plan], list[Run]] = order_runs,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._plan = plan
        self._order = order
        self._folder, self._environment, self._info = session.folder, session.environment, session.info
        self._listen = listen
        self._variables = variables
        self._masker = session_masker(plan, variables, sys.argv[1:])
        self._records = {record.run_id: record for record in session.folder.records()}
        self._neighbours = Neighbours()
        self._interrupts = interrupts or Interrupts()
        self._interpreters = Interpreters()
        self._services = Services(self._masker, self._interrupts)
        self._elsewhere = elsewhere or Nowhere()

    def run(self) -> list[Record]:
        with only_one(self._folder):
            self._run()
        records = list(self._records.values())
        self._listen(SessionFinished(self._folder, self._info, tuple(records), tuple(self._services.warnings)))
        if self._kept.problem:
            raise AssayError(
                f"records of session {self._info.name} could not be written: {self._kept.problem}. "
                f"Make room there; `assay run --resume {self._info.name}` then runs again what has no record"
            )
        return records

    def _run(self) -> None:
        self._reserve = Reserve(self._folder.own)
        self._kept = KeptRecords(self._folder, self._reserve)
        runs = self._order(self._plan)
        warnings = preflight(self._plan, self._neighbours, self._info.name)
        self._neighbours.announce(self._info.name)
        try:
            self._listen(
                SessionStarted(
                    self._folder, self._info, self._environment, len(runs), tuple(warnings),
                    {entry.name: sum(run.counts_for(entry) for run in runs) for entry in self._plan.entries},
                )
            )  # fmt: skip
            with self._interrupts.hold():
                status = self._run_all(runs)
                if status == "finished" and not self._plan.links_hold:
                    with suppress(OSError):  # links that lead nowhere outside the container harm nobody
                        remove_links(self._folder.path)
                self._info = replace(self._info, status=status, finished_at=_now())
                self._write_end()
        finally:
            self._services.end()
            self._neighbours.leave()
            self._reserve.release()

    def _write_end(self) -> None:
        if self._kept.problem:
            self._kept.save(list(self._records.values()))
        try:
            make_way(self._folder.path / SESSION_FILE)
            self._reserve.writing(lambda: self._folder.write_info(self._info))
        except OSError as error:
            self._kept.problem = self._kept.problem or f"{error.strerror or error}: {error.filename or 'session.json'}"

    def _run_all(self, runs: list[Run]) -> Status:
        for run in runs:
            self._services.keep_for(run.entry)  # ends any other entry's: it must not be there while this one waits
            if self._ran_elsewhere(run):
                continue
            while not self._is_done(run):
                if self._interrupts.requested:
                    return "interrupted"
                record = self._run_one(run)
                if record.outcome is Outcome.INTERRUPTED:
                    return "interrupted"
                if not record.superseded:
                    break
                run = replace(run, attempt=run.attempt + 1)
        return "finished"

    def _ran_elsewhere(self, run: Run) -> bool:
        share = self._elsewhere.share(run.entry.name, lambda: self._interrupts.requested)
        self._records.update({record.run_id: record for record in share.records})
        return not share.runs_here

    def _is_done(self, run: Run) -> bool:
        record = self._records.get(self._run_id(run))
        return record is not None and not record.superseded

    def _run_one(self, run: Run) -> Record:
        known = self._records.get(self._run_id(run))
        if known is not None:
            return known
        started_at = _now()
        workspace = Workspace(self._folder.path, self._plan.artifacts_dir, run, self._folder.own / "artifacts")
        execution = Execution(
            run, self._run_id(run), workspace, self._masker, self._listen, self._variables, self._interrupts,
            self._interpreters, self._services, self._interpreter(run.entry),
            self._plan.gpu_stats_interval_s,
        )  # fmt: skip
        failed = self._find_failed_need(run)
        if failed:
            with suppress(OSError):
                workspace.clear()
            result = ProcessResult(failure=f"needs {failed}, which did not pass")
        else:
            result = _clear(workspace) or execution.execute()
        record = judge(execution, result, started_at, self._info.name, self._environment)
        if failed:
            record = replace(record, outcome=Outcome.SKIPPED)
        if not record.success:
            self._services.end()  # what follows a failure begins with a service of its own
        again = run.attempt <= run.entry.retries and _worth_trying_again(record)
        record = replace(record, superseded=again)
        self._keep(record, workspace)
        if run.entry.delete_scratch:
            with suppress(OSError):  # what cannot be removed is the program's doing, and costs only its space
                workspace.delete_scratch()
        self._listen(RunFinished(record, read_stand_ins(workspace.stand_ins)))
        return record

    def _interpreter(self, entry: Entry) -> str | None:
        """Interpreter that the record names, where it is not the session's. Bundled scripts run with Assay's own: that
        is recorded too where the session has another."""
        is_python = entry.script is not None and entry.script.suffix == ".py"
        return entry.interpreter or (sys.executable if self._plan.interpreter and is_python else None)

    def _keep(self, record: Record, workspace: Workspace) -> None:
        """Writes a record, to the session's own file first: that one decides what was finished."""
        self._records[record.run_id] = record
        if not self._info.joined:
            self._restore_folder()
        self._kept.keep(record, list(self._records.values()))
        self._kept.keep_beside(workspace.session / record.name / RESULTS_FILE, record)

    def _restore_folder(self) -> None:
        """Writes the session's description anew where a program removed it: without it nobody would find the
        records."""
        for name, write in (
            (ENVIRONMENT_FILE, lambda: self._folder.write_environment(self._environment)),
            (SESSION_FILE, lambda: self._folder.write_info(self._info)),
        ):
            path = self._folder.path / name
            if not path.is_file() or path.is_symlink():
                with suppress(OSError):  # the end of the session tries again, and says why it could not
                    path.parent.mkdir(parents=True, exist_ok=True)
                    make_way(path)
                    self._reserve.writing(write)

    def _find_failed_need(self, run: Run) -> str:
        for need in run.entry.needs:
            records = [record for record in self._records.values() if record.name == need and record.counts]
            if not records or not all(record.success for record in records):
                return need
        return ""

    def _run_id(self, run: Run) -> str:
        return f"{self._info.name}/{run.key}"


def _clear(workspace: Workspace) -> ProcessResult | None:
    """None, or why the run cannot start: an earlier program may have put anything where its folder belongs."""
    try:
        make_way_for_folder(workspace.folder, workspace.session)
        workspace.clear()
    except OSError as error:
        return ProcessResult(failure=f"its folder {workspace.folder} cannot be used: {error.strerror}")
    return None


def _worth_trying_again(record: Record) -> bool:
    """Whether another attempt could end otherwise; what is wrong with the configuration stays wrong."""
    return not record.success and record.outcome not in (Outcome.INTERRUPTED, Outcome.SKIPPED, Outcome.NOT_STARTED)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
