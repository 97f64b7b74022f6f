from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from statistics import median
from typing import TYPE_CHECKING

from assay.errors import AssayError
from assay.history.history import History
from assay.history.rows import SessionRow
from assay.record import Environment, Record, SessionFolder, SessionInfo
from assay.session.events import Event, RunFinished, SessionFinished, SessionStarted

if TYPE_CHECKING:
    from assay.analysis import Comparison

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
            self.changes = self._what_changed(event.records)

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

    def _what_changed(self, records: Sequence[Record]) -> list[str]:
        from assay.analysis import summary_lines, what_changed  # numpy comes with it: not before it is needed

        try:
            comparison = what_changed(records, self._history)
        except HISTORY_TROUBLE as error:
            self._trouble(f"what changed could not be told: {error}")
            return []
        if comparison is None:
            return []
        self.comparison, self.last = comparison, self._session(comparison.base)
        self.regressed = any(row.design in ("history", "exact") for row in comparison.regressed)
        return summary_lines(comparison)
