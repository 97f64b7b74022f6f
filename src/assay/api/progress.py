from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from assay.record import Outcome, Record
from assay.record.secrets import Masker
from assay.session.events import Event, RunFinished, RunSampled, RunStarted, SessionStarted

CLEAR_LINE = "\r\x1b[2K"


class Progress:
    """A session as it goes: lines on any output and in session.log, and below them on a terminal one live line."""

    def __init__(self, log: Path, masker: Masker, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._log = log.open("a", encoding="utf-8")
        self._masker = masker
        self._live = self._stream.isatty()
        self._total = self._done = 0
        self._running: RunStarted | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._log.close()

    def __call__(self, event: Event) -> None:
        if isinstance(event, SessionStarted):
            self._total = event.runs
            for warning in event.warnings:
                self.note(warning)
            self.say(f"Started session {event.info.name}...")
        elif isinstance(event, RunStarted):
            self._running = event
            self.say(f"\tRunning {event.label}")
            self.say(f"\t\tRunning command {event.command}")
            self._show(0.0, 0.0, 0.0)
        elif isinstance(event, RunSampled):
            self._show(event.elapsed_s, event.cpu_s, event.rss_mb)
        elif isinstance(event, RunFinished):
            self._finished(event.record)

    def say(self, text: str) -> None:
        text = self._masker.text(text)
        if self._live:
            self._stream.write(CLEAR_LINE)
        print(text, file=self._stream, flush=True)
        self._write(text)

    def note(self, text: str) -> None:
        text = self._masker.text(text)
        print(f"{CLEAR_LINE if self._live else ''}warning: {text}", file=sys.stderr, flush=True)
        self._write(f"warning: {text}")

    def _finished(self, record: Record) -> None:
        if self._running is None or self._running.run_id != record.run_id:
            self.say(f"\tRunning {record.name}")
        self._running = None
        self._done += not record.superseded
        word = "✅ Run Succeeded" if record.success else f"❌ {_FAILED.get(record.outcome, 'Run Failed')}"
        self.say(f"\t\t{word} in {record.exec_time_s:.1f} seconds")
        for reason in record.reasons:
            self.say(f"\t\t{reason}")
        for warning in record.warnings:
            self.say(f"\t\twarning: {warning}")
        self.say(f"\t\tLogs found in {Path(record.stdouterr_file).parent / 'logs'}")

    def _show(self, elapsed_s: float, cpu_s: float, rss_mb: float) -> None:
        if not self._live or self._running is None:
            return
        cores = cpu_s / elapsed_s if elapsed_s > 0 else 0.0
        label, limit = self._running.label, self._running.timeout_s
        used = f"{cores:.1f} cores, {rss_mb:.0f} MB"
        line = f"[{self._done}/{self._total}] {label}: {elapsed_s:.0f} s of {limit:.0f} s, {used}"
        self._stream.write(CLEAR_LINE + line)
        self._stream.flush()

    def _write(self, text: str) -> None:
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        try:
            self._log.write("".join(f"{stamp} {line}\n" for line in text.splitlines()))
            self._log.flush()
        except OSError:
            pass  # A full disk costs the log, not the session.


_FAILED = {
    Outcome.TIMEOUT: "Run Timed Out",
    Outcome.SKIPPED: "Run Skipped",
    Outcome.NOT_STARTED: "Run Not Started",
    Outcome.INTERRUPTED: "Run Interrupted",
    Outcome.MISSED: "Run Missed a Requirement",
}
