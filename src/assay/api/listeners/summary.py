from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from assay.api.listeners.console import Console
from assay.record import SessionFolder
from assay.session.events import Event, SessionFinished


class Summary:
    """The last words of a session: its results, what changed, where the report is."""

    def __init__(
        self,
        folder: SessionFolder,
        console: Console,
        changes: Callable[[], Sequence[str]],
        report: Callable[[], Path | None],
        on_host: Callable[[Path], Path],
    ) -> None:
        self._folder = folder
        self._console = console
        self._changes = changes
        self._report = report
        self._on_host = on_host

    def __call__(self, event: Event) -> None:
        if not isinstance(event, SessionFinished):
            return
        from assay.report.terminal import coloured, session_summary  # what it imports is not needed to start a run

        colour = self._console.live and coloured()
        self._console.say(session_summary(self._folder, changes=self._changes(), colour=colour), painted=True)
        report = self._report()
        if report is not None:
            there = self._on_host(report)
            self._console.say(f"Report: {report}" + (f" (on the host: {there})" if there != report else ""))
