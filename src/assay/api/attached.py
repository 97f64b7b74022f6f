from __future__ import annotations

import sqlite3
import sys
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from assay.api.past import HistoryPast
from assay.api.progress import Progress
from assay.config.plan import Plan
from assay.errors import AssayError
from assay.history.history import History
from assay.record import SessionFolder
from assay.record.secrets import Masker
from assay.report.html import write_report
from assay.report.terminal import coloured, session_summary
from assay.session.events import Event, RunFinished, RunStarted, SessionFinished, SessionStarted
from assay.session.requirement_check import NoPast, Past
from assay.sinks.delivery import Delivery

SINK_WAIT_S = 20.0
HISTORY_TROUBLE = (AssayError, sqlite3.Error, OSError)
"""What a damaged, locked or full history raises. The session goes on: its folder has everything."""


class Attached:
    """What listens to a session: progress, history, report and sinks. None of them can change or stop a run."""

    def __init__(self, plan: Plan, folder: SessionFolder, masker: Masker) -> None:
        self._plan = plan
        self._folder = folder
        self._closing = ExitStack()
        self._progress = self._closing.enter_context(Progress(folder.log, masker))
        self._delivery = Delivery(folder.path, plan.sinks)
        self._history: History | None = None
        self.past: Past = NoPast()
        try:
            self._history = self._closing.enter_context(History.beside(plan.results_dir))
            self.past = HistoryPast(self._history, plan.results_dir)
        except HISTORY_TROUBLE as error:
            self._progress.note(f"the history cannot be used ({error}); `assay history import` adds this session later")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._closing.close()

    def listen(self, event: Event) -> None:
        self._progress(event)
        if isinstance(event, SessionStarted):
            self._info, self._environment = event.info, event.environment
            self._delivery.session_started(event.info, event.environment)
        elif isinstance(event, RunStarted):
            self._delivery.run_started(event.run_id, event.name)
        elif isinstance(event, RunFinished):
            self._remember(event)
            self._delivery.run_finished(event.record)
        elif isinstance(event, SessionFinished):
            self._finish(event)

    def _remember(self, event: RunFinished) -> None:
        if self._history is None:
            return
        try:
            self._history.add(event.record, self._info, self._environment, self._folder.path.resolve())
        except HISTORY_TROUBLE as error:
            self._progress.note(
                f"the history could not take {event.record.run_id} ({error}); `assay history import` will"
            )

    def _finish(self, event: SessionFinished) -> None:
        """The report is written before the sinks finalise, so that they can send it."""
        if self._history is not None:
            try:
                self._history.add_session(self._folder)
            except HISTORY_TROUBLE as error:
                self._progress.note(f"the history could not take the session: {error}")
        changes = self._changes(event)
        try:
            report = write_report(self._folder, history=self._history)
        except (AssayError, OSError) as error:
            report = None
            self._progress.note(f"the report could not be written: {error}")
        self._delivery.session_finished(event.info, "\n".join(changes))
        self._progress.say(session_summary(self._folder, changes=changes, colour=coloured(sys.stdout)))
        if report is not None:
            self._progress.say(f"Report: {report}")
        if self._plan.sinks:
            for status in self._delivery.close(wait_s=SINK_WAIT_S):
                self._progress.say(f"Sink {status}")
                for name, link in status.links:
                    self._progress.say(f"  {name}: {link}")
        else:
            self._delivery.close(wait_s=0)

    def _changes(self, event: SessionFinished) -> list[str]:
        """Against the last comparable session, unasked."""
        if self._history is None:
            return []
        from assay.analysis import summary_lines, what_changed  # numpy comes with it: not before it is needed

        try:
            comparison = what_changed(event.records, self._history)
        except HISTORY_TROUBLE as error:
            self._progress.note(f"what changed could not be told: {error}")
            return []
        return summary_lines(comparison) if comparison is not None else []
