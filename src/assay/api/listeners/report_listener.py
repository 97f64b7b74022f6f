from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from assay.errors import AssayError
from assay.history.history import History
from assay.record import SessionFolder
from assay.report.html import write_report
from assay.session.events import Event, SessionFinished


class ReportListener:
    """Writes the report once the session is over; `path` is None until then, and if it could not be written."""

    def __init__(self, folder: SessionFolder, history: History | None, trouble: Callable[[str], None]) -> None:
        self._folder = folder
        self._history = history
        self._trouble = trouble
        self.path: Path | None = None

    def __call__(self, event: Event) -> None:
        if not isinstance(event, SessionFinished):
            return
        try:
            self.path = write_report(self._folder, history=self._history)
        except (AssayError, OSError) as error:
            self._trouble(f"the report could not be written: {error}")
