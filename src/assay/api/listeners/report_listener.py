from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import AssayError
from assay.history.history import History
from assay.record import SessionFolder
from assay.report.html import write_report
from assay.session.events import Event, SessionFinished

if TYPE_CHECKING:
    from assay.analysis import Comparison


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
