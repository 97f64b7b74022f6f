"""An entry of a session in one line of a terminal, while it runs and when it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.record import Outcome, Record
from assay.report.printable import printable
from assay.report.quantity import duration, number
from assay.report.text.screen import Screen
from assay.report.text.text_width import columns, end_cut, middle_cut, pad
from assay.report.text.timing_text import mean_and_spread

MARKS = {"done": "✓", "failed": "✗", "running": "▶", "waiting": "·"}
_COLOURS = {"done": "good", "failed": "bad", "running": "bold", "waiting": "dim"}
_TIME, _MEMORY = 20, 8
_LEAST_NAME, _MOST_NAME = 14, 44


@dataclass(frozen=True)
class RunningRun:
    """What is known of a run while it goes on."""

    elapsed_s: float
    limit_s: float
    cpus: float
    rss_mb: float

    @property
    def words(self) -> list[str]:
        """Whole, and without what it uses."""
        since = f"{whole_seconds(self.elapsed_s)} (limit {whole_seconds(self.limit_s)})"
        used = f"  {self.cpus:.1f} CPUs  {memory_words(self.rss_mb)}" if self.elapsed_s else ""
        return [since + used, since]


@dataclass(frozen=True)
class EntryLine:
    name: str
    planned: int
    """Runs that count."""
    runs: Sequence[Record] = ()
    """Those of them that are over."""
    running: RunningRun | None = None

    @property
    def is_done(self) -> bool:
        return len(self.runs) >= self.planned or any(run.outcome is Outcome.INTERRUPTED for run in self.runs)

    @property
    def state(self) -> str:
        if self.running is not None:
            return "running"
        if any(not run.success for run in self.runs):
            return "failed"
        return "done" if self.is_done else "waiting"

    def text(self, screen: Screen, name_width: int) -> str:
        state = self.state
        name = pad(middle_cut(printable(self.name), name_width), name_width)
        passed = sum(run.success for run in self.runs)
        count = pad(f"{passed if self.is_done else len(self.runs)}/{self.planned}", 5, right=True)
        start = f"  {screen.paint(_COLOURS[state], MARKS[state])} {name}  {count}   "
        room = None if screen.width is None else screen.width - columns(start)
        fitting = [words for words in self._words() if room is None or columns(words) <= room]
        rest = fitting[0] if fitting else end_cut(self._words()[-1], room or 0)
        return (start + rest).rstrip()

    def _words(self) -> list[str]:
        """What there is to say, and shorter ways to say it."""
        failed = next((run for run in self.runs if not run.success), None)
        estimate = pad(
            mean_and_spread([run.exec_time_s for run in self.runs if run.success and run.exec_time_s]), _TIME
        )
        if self.running is not None:
            now = self.running.words
            if not self.runs or failed is not None:
                return now
            return [f"{estimate}  now {now[0]}", *now] if self.running.elapsed_s >= 1 else [estimate]
        if failed is not None:
            return [printable(failed.reasons[0]) if failed.reasons else failed.outcome.words]
        peak = max((run.usage.peak_rss_mb for run in self.runs), default=0.0)
        return [f"{estimate}  {pad(memory_words(peak), _MEMORY, right=True)}"] if self.runs else [""]


def name_width(names: Sequence[str], screen: Screen) -> int:
    """Columns for the names of a session: enough for all of them where there is room."""
    longest = max((columns(printable(name)) for name in names), default=0)
    room = _MOST_NAME if screen.width is None else screen.width * 35 // 100
    return max(_LEAST_NAME, min(longest, room, _MOST_NAME))


def memory_words(mb: float) -> str:
    if not mb:
        return "–"
    return f"{number(float(f'{mb / 1000:.3g}'))} GB" if mb >= 1000 else f"{number(float(f'{mb:.0f}'))} MB"


def whole_seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 59.5 else duration(seconds)
