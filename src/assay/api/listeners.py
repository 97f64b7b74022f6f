from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from assay.errors import AssayError, DataError
from assay.history.history import History
from assay.history.rows import SessionRow
from assay.record import Environment, Record, SessionFolder, SessionInfo
from assay.record.jobs import StartedRun
from assay.record.session_folder import JobFolder
from assay.report.html import write_report
from assay.session.events import Event, Listener, RunFinished, RunStarted, SessionFinished, SessionStarted
from assay.session.joined import make_lost_record
from assay.session.resume import keep_aside
from assay.sinks.delivery.delivery import Delivery

if TYPE_CHECKING:
    from assay.analysis import Comparison
    from assay.analysis.verdict import VerdictDocument
    from assay.api.console import Console


class Guarded:
    """A listener whose failure costs only itself: it is said once, and it hears no more of this session."""

    def __init__(self, name: str, listener: Listener, trouble: Callable[[str], None]) -> None:
        self._name = name
        self._listener: Listener | None = listener
        self._trouble = trouble

    def __call__(self, event: Event) -> None:
        if self._listener is None:
            return
        try:
            self._listener(event)
        except Exception as error:  # noqa: BLE001 - whatever it is, the run it listens to must not feel it
            self._listener = None
            why = " ".join(f"{type(error).__name__}: {error}".split())
            self._trouble(f"{self._name} failed and hears no more of this session: {why}")


HISTORY_TROUBLE = (AssayError, sqlite3.Error, OSError)
"""What a damaged, locked or full history raises. The session goes on: its folder has everything."""


class HistoryListener:
    """Keeps each record in the history, and says at the end what changed against the last comparable session."""

    def __init__(self, history: History, folder: SessionFolder, trouble: Callable[[str], None]) -> None:
        self._history = history
        self._folder = folder
        self._trouble = trouble
        self._info: SessionInfo | None = None
        self._environment: Environment | None = None
        self.changes: list[str] = []
        self.comparison: Comparison | None = None
        """Comparison with what ran last; known when the session has finished, None where nothing comparable ever
        ran."""
        self.last: SessionRow | None = None
        """The one session it is compared with, where it is one."""
        self.verdict: VerdictDocument | None = None
        """Known when the session has finished; None where the history cannot be read."""
        self.regressed = False
        """Whether something is worse than the level of earlier sessions, or an exact figure is; not what only differs
        from the last session, which may be the machine."""

    def __call__(self, event: Event) -> None:
        if isinstance(event, SessionStarted):
            self._info, self._environment = event.info, event.environment
        elif isinstance(event, RunFinished):
            self._add(event.record)
        elif isinstance(event, SessionFinished):
            try:
                self._history.add_session(self._folder)
            except HISTORY_TROUBLE as error:
                self._trouble(f"the history could not take the session: {error}")
            self._judge(event.records)

    def _add(self, record: Record) -> None:
        assert self._info is not None
        assert self._environment is not None
        try:
            self._history.add(record, self._info, self._environment, self._folder.path.resolve())
        except HISTORY_TROUBLE as error:
            self._trouble(f"the history could not take {record.run_id} ({error}); `assay history import` will")

    def _session(self, name: str) -> SessionRow | None:
        try:
            return self._history.session(name)
        except HISTORY_TROUBLE:
            return None

    def usual_duration(self, entry: str) -> float | None:
        """Seconds that a run of it took lately; None if none passed."""
        try:
            lately = self._history.runs(entry=entry, outcome="passed", limit=5)
        except HISTORY_TROUBLE:
            return None
        return median(run.exec_time_s for run in lately) if lately else None

    def _judge(self, records: Sequence[Record]) -> None:
        """Compares the session with earlier ones, judges its gates, and keeps the verdict beside its results."""
        from assay.analysis import what_changed  # numpy comes with it: not before it is needed
        from assay.analysis.analyzer import context_lines, reason_lines
        from assay.analysis.compare_records import rules_for
        from assay.analysis.gate import judge_gates
        from assay.analysis.rules import Rules
        from assay.analysis.verdict import session_verdict, write_verdict

        try:
            comparison = what_changed(records, self._history)
            try:
                rules = rules_for(self._folder.path.parent)
            except DataError:
                rules = Rules()  # the comparison says that the noise floors cannot be read
            gates = judge_gates(records, self._history, rules)
        except HISTORY_TROUBLE as error:
            self._trouble(f"what changed could not be told: {error}")
            return
        reasons: list[str] = []
        context: list[str] = []
        if comparison is not None:
            self.comparison, self.last = comparison, self._session(comparison.base)
            self.regressed = any(row.design in ("history", "exact") for row in comparison.regressed)
            reasons, context = reason_lines(comparison), context_lines(comparison)
        assert self._info is not None
        self.verdict = session_verdict(self._info.name, comparison, gates, self.regressed, reasons, context)
        self.changes = self.verdict.lines
        try:
            write_verdict(self._folder.path, self.verdict)
        except OSError as error:
            self._trouble(f"the verdict could not be written: {error}")


class JobListener:
    """Writes down which run a job is at, so that a job that is killed leaves word of it.

    If another one was killed in the same run, that is recorded beside the run, as `--resume` does.
    """

    def __init__(self, folder: JobFolder, environment: Environment) -> None:
        self._folder = folder
        self._environment = environment

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            now = datetime.now(UTC).isoformat(timespec="microseconds")
            self._folder.begin(StartedRun(event.run_id, event.name, now))
            for other in self._folder.jobs.all():
                lost = make_lost_record(other, self._folder.path.name, self._environment)
                if other.id != self._folder.job.id and lost is not None and lost.run_id == event.run_id:
                    keep_aside(self._folder, lost)


Link = tuple[str, str]
"""What is to be seen, and where."""


class LinksListener:
    """Says where a session can be watched as soon as that is known.

    `known` is what is known before anything runs. `announced` gives what the sinks have learnt since it was last
    asked; nobody waits for them.
    """

    def __init__(self, console: Console, announced: Callable[[], Sequence[Link]], known: Sequence[Link] = ()) -> None:
        self._console = console
        self._announced = announced
        self._known = known

    def __call__(self, event: Event) -> None:
        if isinstance(event, SessionFinished):
            return  # the sinks' last words have them all
        if isinstance(event, SessionStarted):
            self._say(self._known)
        self._say(self._announced())

    def _say(self, links: Sequence[Link]) -> None:
        for name, address in links:
            if "://" in address:  # a file of ours is of use when it is whole
                self._console.say(f"\t{name}: {address}")


class ReportListener:
    """Writes the report once the session is over; `path` is None until then, and if it could not be written."""

    def __init__(
        self,
        folder: SessionFolder,
        history: History | None,
        comparison: Callable[[], Comparison | None],
        trouble: Callable[[str], None],
    ) -> None:
        """`comparison`: what the history was found to say, asked when the session is over."""
        self._folder = folder
        self._history = history
        self._comparison = comparison
        self._trouble = trouble
        self.path: Path | None = None

    def __call__(self, event: Event) -> None:
        if not isinstance(event, SessionFinished):
            return
        try:
            self.path = write_report(self._folder, history=self._history, comparison=self._comparison())
        except (AssayError, OSError) as error:
            self._trouble(f"the report could not be written: {error}")


class SinkListener:
    """Tells the sinks; none of these calls waits for one. `verdict` is asked when the session is over."""

    def __init__(self, delivery: Delivery, verdict: Callable[[], VerdictDocument | None]) -> None:
        self._delivery = delivery
        self._verdict = verdict

    def __call__(self, event: Event) -> None:
        if isinstance(event, SessionStarted):
            self._delivery.session_started(event.info, event.environment)
        elif isinstance(event, RunStarted):
            self._delivery.run_started(event.run_id, event.name)
        elif isinstance(event, RunFinished):
            self._delivery.run_finished(event.record)
        elif isinstance(event, SessionFinished):
            verdict = self._verdict()
            changes = "" if verdict is None else "\n".join(verdict.lines)
            self._delivery.session_finished(event.info, changes, None if verdict is None else verdict.to_json())
