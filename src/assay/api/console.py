from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from statistics import fmean
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from assay.api.results_dir import sessions_folder
from assay.compat.user_code import describe_used
from assay.errors import AssayError
from assay.files.writing import open_append
from assay.history.find_session import find_session
from assay.record import Outcome, Record, SessionFolder
from assay.record.secrets import Masker
from assay.report.quantity import printable
from assay.report.text.screen import PLAIN, Screen, columns, height_of, is_terminal
from assay.report.text.session import whole_seconds
from assay.session.events import Event, RunFinished, RunStarted, SessionFinished, SessionStarted

if TYPE_CHECKING:
    from assay.api.listeners import HistoryListener


class Voice(Enum):
    """How much of a session is said on the screen; session.log has the same whatever it is."""

    SILENT = "silent"
    """Nothing is said: for a program that reads the records."""
    QUIET = "quiet"
    """Only the result."""
    NORMAL = "normal"
    VERBOSE = "verbose"
    """Every line of session.log as well."""


Expected = Callable[[str], float | None]
"""Seconds that a run of an entry took in earlier sessions; None if it never ran."""


@dataclass(frozen=True)
class TimeLeft:
    seconds: float
    is_all: bool
    """False where entries are to come of which nobody knows how long they take."""

    @property
    def words(self) -> str:
        if not self.seconds:
            return ""
        return f"{whole_seconds(self.seconds)} left" + ("" if self.is_all else " or more")


def time_left(
    left: Mapping[str, int], took: Mapping[str, list[float]], expected: Expected, running: tuple[str, float] | None
) -> TimeLeft:
    """`left`: runs of each entry that are not over; `took`: seconds of those that are; `running`: the entry whose run
    goes on, and since how many seconds."""
    total, is_all = 0.0, True
    for name, count in left.items():
        if not count:
            continue
        each = fmean(took[name]) if took.get(name) else expected(name)
        if each is None:
            is_all = False
            continue
        total += each * count
        if running is not None and running[0] == name:
            total -= min(each, running[1])
    return TimeLeft(total, is_all)


def resume_words(folder: SessionFolder) -> str:
    """The command that goes on with a session: `latest` where that is the one it finds, otherwise its name, and where
    to look for it if that is not where sessions are looked for."""
    for word, where in (("latest", None), (folder.path.name, None), (folder.path.name, folder.path.parent)):
        if _finds(word, where, folder.path):
            place = f" --results-dir {shlex.quote(str(where))}" if where is not None else ""
            return f"assay run --resume {word}{place}"
    return f"assay run --resume {shlex.quote(str(folder.path))}"


def _finds(word: str, where: Path | None, path: Path) -> bool:
    try:
        return find_session(word, sessions_folder(where)).path.resolve() == path.resolve()
    except (AssayError, OSError):
        return False


CLEAR_LINE = "\r\x1b[2K"
UP = "\x1b[1A"
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Console:
    """What a session says: lines on a stream and in session.log, warnings on standard error and in the log.

    A stream that is gone, full or closed is not written to again, and neither is such a log; what is left goes on.
    `troubles` is what could not be done beside the runs, for the summary.
    """

    def __init__(self, log: Path, masker: Masker, stream: TextIO | None = None, voice: Voice = Voice.NORMAL) -> None:
        self._masker = masker
        self._stream = None if voice is Voice.SILENT else stream or sys.stdout
        self._errors: TextIO | None = None if voice is Voice.SILENT else sys.stderr
        self.voice = voice
        self.live = self._stream is not None and voice is not Voice.QUIET and is_terminal(self._stream)
        self.troubles: list[str] = []
        self._region: tuple[str, ...] = ()
        self._log: TextIO | None = None
        try:
            self._log = open_append(log, errors="replace")
        except OSError as error:
            self._log_is_gone(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._log is not None:
            self._log.close()

    @property
    def screen(self) -> Screen:
        """The screen as it is now: a window may have another size than a moment ago."""
        return PLAIN if self._stream is None else Screen.of(self._stream)

    @property
    def height(self) -> int:
        return 0 if self._stream is None else height_of(self._stream)

    def say(self, text: str, *, painted: bool = False) -> None:
        """Says it on the screen and in the log. `painted`: it has colours of ours, and is printable already."""
        self.print(text, painted=painted)
        self.log(text)

    def print(self, text: str, *, painted: bool = False) -> None:
        """Says it on the screen alone."""
        text = self._masker.text(text)
        if not painted:
            text = printable(text, keep_lines=True)
        self._put(f"{self._erasing()}{text}\n{self._region_text()}")

    def log(self, text: str) -> None:
        """Writes it to session.log alone, without colours."""
        if self._log is None:
            return
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        try:
            lines = _ESCAPES.sub("", self._masker.text(text)).split("\n")
            self._log.write("".join(f"{stamp} {printable(line)}\n" for line in lines if line))
            self._log.flush()
        except (OSError, ValueError) as error:
            self._log_is_gone(error)

    def note(self, text: str) -> None:
        text = f"warning: {printable(self._masker.text(text), keep_lines=True)}"
        if self._errors is not None:
            self._put(self._erasing())
            try:
                print(text, file=self._errors, flush=True)
            except (OSError, ValueError):
                self._errors = None
            self._put(self._region_text())
        self.log(text)

    def trouble(self, text: str) -> None:
        """Writes what could not be done to the log at once; the summary says it again."""
        self.troubles.append(printable(self._masker.text(text), keep_lines=True))
        self.log(f"warning: {self.troubles[-1]}")

    def say_troubles(self) -> None:
        """Says the troubles on the screen; the log has them already."""
        for trouble in self.troubles:
            self.print(f"warning: {trouble}", painted=True)

    def show(self, lines: Sequence[str]) -> None:
        """The live lines of a terminal, in place of the last ones; what is said stands above them. None of them may be
        wider than the screen."""
        if self.live:
            erasing = self._erasing()
            self._region = tuple(self._masker.text(line) for line in lines)
            self._put(erasing + self._region_text())

    def _erasing(self) -> str:
        """Takes the live lines away. In a window that has become narrower they stand on more rows."""
        if not self.live or not self._region:
            return ""
        width = self.screen.width or 80
        rows = sum(max(1, -(-columns(line) // width)) for line in self._region)
        return CLEAR_LINE + f"{UP}{CLEAR_LINE}" * (rows - 1)

    def _region_text(self) -> str:
        return "\n".join(self._region) if self.live else ""

    def _put(self, text: str) -> None:
        if self._stream is None or not text:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # ValueError: closed
            self._stream, self.live = None, False

    def _log_is_gone(self, error: Exception) -> None:
        self._log = None
        self.troubles.append(f"session.log could not be written: {error}")


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
            from assay.report.text.session import shorten_path

            there = self._on_host(report)
            elsewhere = f" (on the host: {there})" if there != report else ""
            self._console.print(f"Report: {shorten_path(report, self._console.screen)}{elsewhere}")
            self._console.log(f"Report: {report}{elsewhere}")
        if event.info.status == "interrupted":
            self._console.say(f"{self._count_done(event)}; continue: `{resume_words(self._folder)}`")

    def _text(self, screen: Screen, after_lines: bool = False) -> str:
        from assay.api.session_changes import session_text  # what it imports is not needed to start a run

        history = self._history
        if history is None:
            return session_text(self._folder, None, None, screen, after_lines)
        return session_text(
            self._folder, history.comparison, history.last, screen, after_lines, verdict=history.verdict
        )

    def _count_done(self, event: SessionFinished) -> str:
        """`1 of 3 done`: entries; of a single one its runs."""
        planned = self._started.runs_of if self._started is not None else {}
        over = [record for record in event.records if record.counts and record.outcome is not Outcome.INTERRUPTED]
        done = {name: sum(record.name == name for record in over) for name in planned}
        if len(planned) == 1:
            [(name, runs)] = planned.items()
            return f"{done[name]} of {runs} run{'s' if runs > 1 else ''} done"
        return f"{sum(done[name] >= runs for name, runs in planned.items())} of {len(planned)} done"


class SuiteView:
    """Weight suites on a terminal: one live line, which goes before a table is printed. Elsewhere lines, as always."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __call__(self, text: str) -> None:
        from assay.benchmarks.weights.bench_plan import print_line  # only where suites run
        from assay.report.text.screen import middle_cut

        if not self._console.live:
            print_line(text)
        else:
            self._console.show([middle_cut(text, (self._console.screen.width or 80) - 1)] if text else ())
