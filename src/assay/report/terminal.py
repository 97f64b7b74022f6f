"""A session's summary as printed text: no colour and no cursor tricks where the output is not a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

from assay.errors import UsageError
from assay.names import unknown
from assay.record import Outcome, SessionFolder
from assay.record.task_metrics import is_task_metric
from assay.report.printable import printable
from assay.report.quantity import duration, number, quantity
from assay.report.run_folder import RunFolder
from assay.report.text_table import text_table
from assay.report.view import EntryView, MetricView, SessionView

_COLOURS = {"good": "32", "bad": "31", "dim": "2", "bold": "1"}
_LOG_LINES = 8


def coloured(stream: TextIO | None = None) -> bool:
    stream = stream or sys.stdout
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def session_summary(folder: SessionFolder, *, changes: Sequence[str] = (), colour: bool = False) -> str:
    """`changes` are lines that say what changed against an earlier session."""
    view = SessionView.of(folder)
    paint = _Paint(colour)
    blocks = [
        _head(view, paint),
        _table(view.ended, paint),
        *(_failure(entry, folder, paint) for entry in view.failed),
        _waiting(view),
        "\n".join(["What changed", *(f"  {printable(line)}" for line in changes)]) if changes else "",
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


class _Paint:
    def __init__(self, on: bool) -> None:
        self._on = on

    def __call__(self, how: str, text: str) -> str:
        return f"\x1b[{_COLOURS[how]}m{text}\x1b[0m" if self._on else text


def _head(view: SessionView, paint: _Paint) -> str:
    info, machine = view.info, view.environment
    commit = (
        f" · git {machine.git_commit[:10]}{' (changed)' if machine.git_dirty else ''}" if machine.git_commit else ""
    )
    lines = [
        f"{paint('bold', printable(info.name))} · {info.status} · {view.counts()} · {duration(view.seconds)}",
        f"{printable(machine.described)}{printable(commit)}",
    ]
    if len(view.hosts) > 1:
        lines.append(f"runs on {len(view.hosts)} hosts: {', '.join(map(printable, view.hosts))}")
    if info.reason:
        lines.append(f"reason: {printable(info.reason)}")
    return "\n".join(lines)


def _table(entries: Sequence[EntryView], paint: _Paint) -> str:
    if not entries:
        return ""
    rows = [("entry", "outcome", "runs", "time", "memory", "measured"), *(_row(entry) for entry in entries)]

    def painted(row: int, column: int, cell: str) -> str:
        if row == 0:
            return paint("dim", cell)
        return paint("good" if entries[row - 1].passed else "bad", cell) if column == 1 else cell

    return text_table(rows, right=(2, 3, 4), paint=painted)


def _row(entry: EntryView) -> tuple[str, str, str, str, str, str]:
    passed = sum(run.success for run in entry.counted)
    peak = max((run.usage.peak_rss_mb for run in entry.counted), default=0.0)
    return (
        printable(entry.name),
        entry.outcome_words,
        f"{passed}/{len(entry.counted)}",
        duration(entry.exec_time_s),
        f"{number(round(peak))} MB" if peak else "–",
        ", ".join(metric_words(metric) for metric in entry.headline()),
    )


def metric_words(metric: MetricView) -> str:
    """`rows_per_s 101 1/s (98.2 to 103 in 5 runs)`."""
    words = f"{printable(metric.name)} {printable(quantity(metric.value, metric.unit))}"
    if metric.low is not None and metric.high is not None and metric.low != metric.high:
        low, high = (printable(quantity(end, metric.unit)) for end in (metric.low, metric.high))
        words += f" ({low} to {high} in {len(metric.values)} runs)"
    return words


def _failure(entry: EntryView, folder: SessionFolder, paint: _Paint) -> str:
    run = entry.shown
    lines = [f"{paint('bad', printable(entry.name))}: {str(entry.outcome).replace('_', ' ')}"]
    lines += [f"  {printable(reason)}" for reason in entry.reasons]
    if run is None or run.outcome in (Outcome.NOT_STARTED, Outcome.SKIPPED, Outcome.MISSED):
        return "\n".join(lines)
    files = RunFolder(folder, run)
    tail = files.log_tail(_LOG_LINES)
    if tail and not any(tail.strip() in reason for reason in entry.reasons):
        lines.append(
            paint("dim", f"  the end of {printable(str(folder.path / files.log.relative_to(folder.path.resolve())))}:")
        )
        lines += [f"  | {printable(line)}" for line in tail.splitlines()]
    return "\n".join(lines)


def _waiting(view: SessionView) -> str:
    if view.missing:
        name = printable(view.info.name)
        said = f"missing (`assay run --join {name} --finish` finishes the session without):"
        return "\n".join([said, *(f"  {printable(words)}" for words in view.missing)])
    names: Iterable[str] = (printable(entry.name) for entry in view.waiting)
    return f"not run yet: {', '.join(names)}" if view.waiting else ""


def entry_details(folder: SessionFolder, name: str) -> str:
    """Every metric of one entry."""
    view = SessionView.of(folder)
    entry = next((entry for entry in view.entries if entry.name == name), None)
    if entry is None:
        raise UsageError(unknown("entry", name, (e.name for e in view.entries), of=view.info.name))
    lines = [
        f"{printable(entry.name)}: {entry.outcome or 'not run yet'}",
        *(f"  {printable(r)}" for r in entry.reasons),
    ]
    for run in entry.runs:
        mark = " (warm-up)" if run.warmup else " (tried again)" if run.superseded else ""
        lines.append(f"  {printable(run.run_id)}: {run.outcome}, {duration(run.exec_time_s)}{mark}")
    metrics = sorted(entry.metrics(), key=lambda metric: is_task_metric(metric.name))
    width = max((len(printable(metric.name)) for metric in metrics), default=0)
    for metric in metrics:
        words = metric_words(metric)[len(printable(metric.name)) :].strip()
        lines.append(f"  {printable(metric.name).ljust(width)}  {words}")
    return "\n".join(lines) + "\n"
