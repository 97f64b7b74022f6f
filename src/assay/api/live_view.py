from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from assay.api.console import Console, Expected, time_left
from assay.record import Record
from assay.report.quantity import printable
from assay.report.text.screen import Screen, columns, middle_cut, progress_bar
from assay.report.text.session import EntryLine, RunningRun, name_width
from assay.session.events import Event, RunFinished, RunSampled, RunStarted, SessionFinished, SessionStarted

_MOST_LIVE = 12
"""Most entries under way that are shown; the end of a long list says more than all of it."""


class LiveView:
    """A session on a terminal: a line for each entry when it is done, below them what is under way and how long it
    will take. Nothing of it is in session.log."""

    def __init__(
        self,
        console: Console,
        *,
        notes: Sequence[str] = (),
        expected: Expected = lambda name: None,
        keep_lines: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`notes` are said once, at the start. `keep_lines`: a line stays when its entry is done; otherwise they are
        only there while it goes on, since what is said at the end has it all."""
        self._console, self._notes, self._expected = console, notes, _Remembered(expected)
        self._keep_lines, self._clock = keep_lines, clock
        self._planned: dict[str, int] = {}
        self._runs: dict[str, list[Record]] = {}
        self._took: dict[str, list[float]] = {}
        self._total = self._done = 0
        self._session = ""
        self._started = 0.0
        self._running: tuple[RunStarted, RunningRun] | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, SessionStarted):
            self._begin(event)
        elif isinstance(event, RunStarted):
            self._started = self._clock()
            self._running = event, RunningRun(0.0, event.timeout_s, 0.0, 0.0)
            self._show()
        elif isinstance(event, RunSampled) and self._running is not None:
            cpus = event.cpu_s / event.elapsed_s if event.elapsed_s > 0 else 0.0
            limit = self._running[0].timeout_s
            self._running = self._running[0], RunningRun(event.elapsed_s, limit, cpus, event.rss_mb)
            self._show()
        elif isinstance(event, RunFinished):
            self._finish(event.record)
        elif isinstance(event, SessionFinished):
            self._console.show(())

    def _begin(self, event: SessionStarted) -> None:
        self._planned = dict(event.runs_of)
        self._total, self._session = event.runs, event.info.name
        for record in event.folder.records():
            self._add(record)
        if self._keep_lines:
            entries = f"{len(self._planned)} {'entry' if len(self._planned) == 1 else 'entries'}"
            done = f", {self._done} done already" if self._done else ""
            self._console.print(f"{event.info.name}  {entries}, {event.runs} runs{done}")
        for note in (*self._notes, *([f"Viewer: {event.info.viewer_url}"] if event.info.viewer_url else [])):
            self._console.print(f"  {note}")

    def _add(self, record: Record) -> None:
        self._done += not record.superseded
        if record.counts:
            self._runs.setdefault(record.name, []).append(record)

    def _finish(self, record: Record) -> None:
        if self._running is not None:  # otherwise it was never started
            self._took.setdefault(record.name, []).append(self._clock() - self._started)
        self._running = None
        self._add(record)
        line = self._line(record.name)
        if self._keep_lines and line.is_done:
            screen = self._console.screen
            self._console.print(line.text(screen, self._name_width(screen)), painted=True)
            for warning in dict.fromkeys(w for run in line.runs for w in run.warnings):
                self._console.print(f"      warning: {printable(warning)}")
        self._show()

    def _line(self, name: str) -> EntryLine:
        running = self._running[1] if self._running is not None and self._running[0].name == name else None
        return EntryLine(name, self._planned.get(name, 1), self._runs.get(name, ()), running)

    def _name_width(self, screen: Screen) -> int:
        return name_width(list(self._planned), screen)

    def _show(self) -> None:
        screen = self._console.screen
        under_way = [line for name in self._planned if self._is_under_way(line := self._line(name))]
        most = max(1, min(_MOST_LIVE, self._console.height - 3))
        shown = [line for line in under_way if line.running] + [line for line in under_way if not line.running]
        shown = [line for line in under_way if line in shown[:most]]
        lines = [line.text(screen, self._name_width(screen)) for line in shown]
        if len(under_way) > most:
            lines.append(f"    and {len(under_way) - most} more under way")
        self._console.show([*lines, self._bar(screen)])

    def _is_under_way(self, line: EntryLine) -> bool:
        return bool(line.running or line.runs) and not (self._keep_lines and line.is_done)

    def _bar(self, screen: Screen) -> str:
        running = self._running and (self._running[0].name, self._running[1].elapsed_s)
        left = time_left(self._left(), self._took, self._expected, running).words
        share = self._done / self._total if self._total else 0.0
        end = f" {share:4.0%}   {left}".rstrip()
        width = screen.width or 80
        start = f"{self._done} of {self._total} runs  "
        room = width - columns(start) - columns(end) - 1
        bar = progress_bar(share, max(4, min(40, room)))
        return middle_cut(start + bar + end, width - 1)

    def _left(self) -> dict[str, int]:
        """Runs of each entry that are left; warm-ups that are still to come are not among them."""
        return {name: planned - len(self._runs.get(name, ())) for name, planned in self._planned.items()}


class _Remembered:
    """Asked once for each entry: the live lines are drawn twice a second."""

    def __init__(self, expected: Expected) -> None:
        self._expected = expected
        self._known: dict[str, float | None] = {}

    def __call__(self, name: str) -> float | None:
        if name not in self._known:
            self._known[name] = self._expected(name)
        return self._known[name]
