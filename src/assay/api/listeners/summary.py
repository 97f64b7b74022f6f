from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from assay.api.listeners.console import Console
from assay.api.listeners.history_listener import HistoryListener
from assay.api.running.resume_words import resume_words
from assay.record import Outcome, SessionFolder
from assay.report.text.screen import PLAIN, Screen
from assay.session.events import Event, SessionFinished, SessionStarted


class Summary:
    """The last words of a session: its results, what changed, where the report is, and how to go on."""

    def __init__(
        self,
        folder: SessionFolder,
        console: Console,
        history: HistoryListener | None,
        report: Callable[[], Path | None],
        on_host: Callable[[Path], Path],
        after_lines: bool = False,
    ) -> None:
        """`after_lines`: the screen has a line for each entry already."""
        self._folder = folder
        self._console = console
        self._history = history
        self._report = report
        self._on_host = on_host
        self._after_lines = after_lines
        self._started: SessionStarted | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, SessionStarted):
            self._started = event
        if not isinstance(event, SessionFinished):
            return
        text = self._text(self._console.screen, self._after_lines)
        self._console.print(f"\n{text}" if self._after_lines else text, painted=True)
        self._console.log(self._text(PLAIN))
        report = self._report()
        if report is not None:
            from assay.report.text.terminal import shorten_path

            there = self._on_host(report)
            elsewhere = f" (on the host: {there})" if there != report else ""
            self._console.print(f"Report: {shorten_path(report, self._console.screen)}{elsewhere}")
            self._console.log(f"Report: {report}{elsewhere}")
        if event.info.status == "interrupted":
            self._console.say(f"{self._count_done(event)}; continue: `{resume_words(self._folder)}`")

    def _text(self, screen: Screen, after_lines: bool = False) -> str:
        from assay.api.session_text import session_text  # what it imports is not needed to start a run

        history = self._history
        known = (None, None) if history is None else (history.comparison, history.last)
        return session_text(self._folder, *known, screen, after_lines)

    def _count_done(self, event: SessionFinished) -> str:
        """`1 of 3 done`: entries; of a single one its runs."""
        planned = self._started.runs_of if self._started is not None else {}
        over = [record for record in event.records if record.counts and record.outcome is not Outcome.INTERRUPTED]
        done = {name: sum(record.name == name for record in over) for name in planned}
        if len(planned) == 1:
            [(name, runs)] = planned.items()
            return f"{done[name]} of {runs} run{'s' if runs > 1 else ''} done"
        return f"{sum(done[name] >= runs for name, runs in planned.items())} of {len(planned)} done"
