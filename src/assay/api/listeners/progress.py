from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.api.listeners.console import Console
from assay.fallback.words import said_of
from assay.record import Outcome, Record
from assay.session.events import Event, RunFinished, RunSampled, RunStarted, SessionStarted


class Progress:
    """A session as it goes: lines on any output, and below them on a terminal one live line."""

    def __init__(self, console: Console, notes: Sequence[str] = ()) -> None:
        """`notes` are said once, when the session begins."""
        self._console = console
        self._notes = notes
        self._total = self._done = 0
        self._running: RunStarted | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, SessionStarted):
            self._total = event.runs
            for warning in event.warnings:
                self._console.note(warning)
            self._console.say(f"{'Joined' if event.info.joined else 'Started'} session {event.info.name}...")
            for note in self._notes:
                self._console.say(f"\t{note}")
            if event.info.viewer_url is not None:
                self._console.say(f"\tViewer: {event.info.viewer_url}")
        elif isinstance(event, RunStarted):
            self._running = event
            self._console.say(f"\tRunning {event.label}")
            self._console.say(f"\t\tRunning command {event.command}")
            self._show(0.0, 0.0, 0.0)
        elif isinstance(event, RunSampled):
            self._show(event.elapsed_s, event.cpu_s, event.rss_mb)
        elif isinstance(event, RunFinished):
            self._finished(event.record, said_of(event.stand_ins))

    def _finished(self, record: Record, stood_in: str) -> None:
        say = self._console.say
        if self._running is None or self._running.run_id != record.run_id:
            say(f"\tRunning {record.name}")
        self._running = None
        self._done += not record.superseded
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

    def _show(self, elapsed_s: float, cpu_s: float, rss_mb: float) -> None:
        if self._running is None:
            return
        cores = cpu_s / elapsed_s if elapsed_s > 0 else 0.0
        label, limit = self._running.label, self._running.timeout_s
        used = f"{cores:.1f} cores, {rss_mb:.0f} MB"
        self._console.show(f"[{self._done}/{self._total}] {label}: {elapsed_s:.0f} s of {limit:.0f} s, {used}")


_FAILED = {
    Outcome.TIMEOUT: "Run Timed Out",
    Outcome.SKIPPED: "Run Skipped",
    Outcome.NOT_STARTED: "Run Not Started",
    Outcome.INTERRUPTED: "Run Interrupted",
    Outcome.MISSED: "Run Missed a Requirement",
}
