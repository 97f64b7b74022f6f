"""An entry of a session in one line of a terminal, while it runs and when it is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from assay.record import Outcome, Record, SessionFolder
from assay.report.quantity import duration, number, printable, quantity
from assay.report.run_folder import RunFolder
from assay.report.session_view import EntryView, MetricView, SessionView
from assay.report.text.screen import (
    PLAIN,
    Screen,
    columns,
    end_cut,
    mean_and_spread,
    middle_cut,
    pad,
    text_table,
    wrap_text,
)

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


# A session's summary as printed text: failures and regressions first, then everything in one table.

_LOG_LINES = 8
_MOST_LOGS = 5
"""Failed entries whose last lines are shown; of more, `assay logs` has them."""


def session_summary(
    folder: SessionFolder,
    *,
    changes: Sequence[str] = (),
    regressed: Collection[str] = (),
    screen: Screen = PLAIN,
    after_lines: bool = False,
) -> str:
    """`changes` are lines that say what changed against an earlier session; `regressed` names entries of which one
    says so. `after_lines`: each entry had a line of its own already, so a table that says no more is left out."""
    view = SessionView.of(folder)
    says_more = any(entry.headline(1) for entry in view.ended)
    blocks = [
        _head(view, regressed, screen),
        failures(view, folder, screen),
        _what_changed(changes, screen),
        _table(view, regressed, screen) if says_more or not after_lines else "",
        _waiting(view),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _head(view: SessionView, regressed: Collection[str], screen: Screen) -> str:
    info, machine = view.info, view.environment
    commit = (
        f" · git {machine.git_commit[:10]}{' (changed)' if machine.git_dirty else ''}" if machine.git_commit else ""
    )
    status = "" if info.status == "finished" else f"{info.status} · "
    counts = f"{status}{_counts(view, regressed, screen)} · {duration(view.seconds)}"
    name = screen.paint("bold", printable(info.name))
    together = screen.width is None or columns(name) + columns(counts) + 2 <= screen.width
    lines = [f"{name}  {counts}"] if together else [name, counts]
    lines.append(printable(f"{machine.described}{commit}"))
    if len(view.hosts) > 1:
        lines.append(f"runs on {len(view.hosts)} hosts: {', '.join(map(printable, view.hosts))}")
    if info.reason:
        lines.append(f"reason: {printable(info.reason)}")
    return "\n".join(lines)


def _counts(view: SessionView, regressed: Collection[str], screen: Screen) -> str:
    """`✗ 1 failed, 1 timeout · ▼ 1 regressed · ✓ 12 passed · 1 waiting`: what somebody has to look at first."""
    words = Counter(entry.outcome_words for entry in view.failed)
    worse = [entry for entry in view.ended if entry.passed and entry.name in regressed]
    undecided = Counter(entry.undecided for entry in view.ended if entry.undecided and entry not in worse)
    passed = sum(entry.passed for entry in view.ended) - len(worse) - undecided.total()
    parts = []
    if words:
        parts.append(screen.paint("bad", "✗ " + ", ".join(f"{count} {word}" for word, count in sorted(words.items()))))
    if worse:
        parts.append(screen.paint("bad", f"▼ {len(worse)} regressed"))
    for word, count in undecided.items():
        parts.append(screen.paint("dim", f"○ {count} {word}"))
    if passed:
        parts.append(screen.paint("good", f"✓ {passed} passed"))
    if view.waiting:
        parts.append(f"{len(view.waiting)} waiting")
    return " · ".join(parts) or "no entries"


def failures(view: SessionView, folder: SessionFolder, screen: Screen = PLAIN) -> str:
    """Each entry that did not pass: why, and the end of its log."""
    return "\n".join(_failure(entry, folder, screen, at < _MOST_LOGS) for at, entry in enumerate(view.failed))


def _failure(entry: EntryView, folder: SessionFolder, screen: Screen, with_log: bool) -> str:
    run = entry.shown
    lines = [f"{screen.paint('bad', '✗ ' + printable(entry.name))}: {str(entry.outcome).replace('_', ' ')}"]
    lines += [wrap_text(printable(reason), screen.width, "  ") for reason in entry.reasons]
    if run is None or run.outcome in (Outcome.NOT_STARTED, Outcome.SKIPPED, Outcome.MISSED):
        return "\n".join(lines)
    files = RunFolder(folder, run)
    tail = files.log_tail(_LOG_LINES) if with_log else ""
    if tail and not any(tail.strip() in reason for reason in entry.reasons):
        lines.append(screen.paint("dim", f"  the end of {log_path(folder, files, screen)}:"))
        lines += [_fit(f"  | {printable(line)}", screen) for line in tail.splitlines()]
    return "\n".join(lines)


def log_path(folder: SessionFolder, files: RunFolder, screen: Screen) -> str:
    return printable(shorten_path(folder.path / files.log.relative_to(folder.path.resolve()), screen))


def shorten_path(path: Path, screen: Screen) -> str:
    """A path as it is shown: on a terminal relative to the working folder, if it is below that; elsewhere whole."""
    with suppress(OSError, ValueError):
        return str(path if screen.width is None else path.relative_to(Path.cwd()))
    return str(path)


def _what_changed(changes: Sequence[str], screen: Screen) -> str:
    if not changes:
        return ""
    lines = [printable(line) for line in changes]
    shown = [
        (line.startswith(("regressed", "fail: ", "changed: ")), wrap_text(line, screen.width, "  ")) for line in lines
    ]
    return "\n".join(["What changed", *(screen.paint("bad", line) if bad else line for bad, line in shown)])


def _table(view: SessionView, regressed: Collection[str], screen: Screen) -> str:
    """Failed, regressed, and the rest as planned."""

    def place(entry: EntryView) -> int:
        return 0 if not entry.passed else 1 if entry.name in regressed else 2

    entries = sorted(view.ended, key=place)
    if not entries:
        return ""
    rows: list[tuple[str, ...]] = [
        ("entry", "outcome", "runs", "time", "memory", "measured"),
        *(_row(entry, entry.passed and entry.name in regressed) for entry in entries),
    ]

    def paint(row: int, column: int, cell: str) -> str:
        if row == 0:
            return screen.paint("dim", cell)
        entry = entries[row - 1]
        colour = "bad" if place(entry) < 2 else "dim" if entry.undecided else "good"
        return screen.paint(colour, cell) if column == 1 else cell

    rows = rows if any(row[-1] for row in rows[1:]) else [row[:-1] for row in rows]
    return text_table(rows, right=(2, 3, 4), paint=paint, most=screen.width)


def _row(entry: EntryView, is_regressed: bool) -> tuple[str, str, str, str, str, str]:
    passed = sum(run.success for run in entry.counted)
    peak = max((run.usage.peak_rss_mb for run in entry.counted), default=0.0)
    word = "▼ regressed" if is_regressed else f"{'✓' if entry.passed else '✗'} {entry.outcome_words}"
    word = f"○ {entry.undecided}" if entry.undecided and not is_regressed else word
    return (
        printable(entry.name),
        word,
        f"{passed}/{len(entry.counted)}",
        mean_and_spread([run.exec_time_s for run in entry.measured or entry.counted if run.exec_time_s]),
        memory_words(peak),
        ", ".join(metric_words(metric) for metric in entry.headline()),
    )


def metric_words(metric: MetricView) -> str:
    """`rows_per_s 101 1/s (98.2 to 103 in 5 runs)`."""
    words = f"{printable(metric.name)} {printable(quantity(metric.value, metric.unit))}"
    if metric.low is not None and metric.high is not None and metric.low != metric.high:
        low, high = (printable(quantity(end, metric.unit)) for end in (metric.low, metric.high))
        words += f" ({low} to {high} in {len(metric.values)} runs)"
    return words


def _waiting(view: SessionView) -> str:
    if view.missing:
        name = printable(view.info.name)
        said = f"missing (`assay run --join {name} --finish` finishes the session without):"
        return "\n".join([said, *(f"  {printable(words)}" for words in view.missing)])
    names: Iterable[str] = (printable(entry.name) for entry in view.waiting)
    return f"not run yet: {', '.join(names)}" if view.waiting else ""


def _fit(text: str, screen: Screen) -> str:
    return text if screen.width is None else end_cut(text, screen.width)
