from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.api.listeners.console import Console
from assay.fallback.words import describe_used
from assay.record import Outcome, Record
from assay.session.events import Event, RunFinished, RunStarted, SessionFinished, SessionStarted


class Progress:
    """A session as it goes, line by line: always in session.log, and where it is asked for on the screen."""

    def __init__(self, console: Console, notes: Sequence[str] = (), *, printed: bool = True) -> None:
        """`notes` are said once, when the session begins. `printed`: on the screen too, not in the log alone."""
        self._console = console
        self._notes = notes
        self._say = console.say if printed else console.log
        self._running: RunStarted | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, SessionStarted):
            for warning in event.warnings:
                self._console.note(warning)
            self._say(f"{'Joined' if event.info.joined else 'Started'} session {event.info.name}...")
            for note in self._notes:
                self._say(f"\t{note}")
            if event.info.viewer_url is not None:
                self._say(f"\tViewer: {event.info.viewer_url}")
        elif isinstance(event, RunStarted):
            self._running = event
            self._say(f"\tRunning {event.label}")
            self._say(f"\t\tRunning command {event.command}")
        elif isinstance(event, RunFinished):
            self._say_finished(event.record, describe_used(event.stand_ins))
        elif isinstance(event, SessionFinished):
            for warning in event.warnings:
                self._console.note(warning)

    def _say_finished(self, record: Record, stood_in: str) -> None:
        say = self._say
        if self._running is None or self._running.run_id != record.run_id:
            say(f"\tRunning {record.name}")
        self._running = None
        word = "✅ Run Succeeded" if record.success else f"❌ {_FAILED.get(record.outcome, 'Run Failed')}"
        say(f"\t\t{word} in {record.exec_time_s:.1f} seconds")
        for reason in record.reasons:
            say(f"\t\t{reason}")
        for warning in record.warnings:
            say(f"\t\twarning: {warning}")
        if stood_in:
            say(f"\t\t{stood_in}")
        logs = Path(record.stdouterr_file).parent / "logs"
        if any(logs.glob("*")):
            say(f"\t\tLogs found in {logs}")


_FAILED = {
    Outcome.TIMEOUT: "Run Timed Out",
    Outcome.SKIPPED: "Run Skipped",
    Outcome.NOT_STARTED: "Run Not Started",
    Outcome.INTERRUPTED: "Run Interrupted",
    Outcome.MISSED: "Run Missed a Requirement",
}
