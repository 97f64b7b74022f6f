"""One entry of a session in full, as printed text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from assay.analysis.conditions import disturbances
from assay.errors import UsageError
from assay.names import unknown
from assay.record import Record, RequirementResult, SessionFolder
from assay.record.task import is_task_metric
from assay.report.exhibits.stages import stage_breakdown
from assay.report.quantity import duration, printable, quantity
from assay.report.run_folder import RunFolder
from assay.report.session_view import EntryView, SessionView
from assay.report.text.screen import PLAIN, Screen, text_table
from assay.report.text.session import log_path, memory_words, metric_words

_MOST_SHOWN = 200
"""Characters of a parameter's value."""


def entry_details(folder: SessionFolder, name: str, *, regressed: Collection[str] = (), screen: Screen = PLAIN) -> str:
    """What was run, how each run ended, what was required, every metric, its stages, and where its log is."""
    view = SessionView.of(folder)
    entry = next((entry for entry in view.entries if entry.name == name), None)
    if entry is None:
        raise UsageError(unknown("entry", name, (e.name for e in view.entries), of=view.info.name))
    blocks = [
        _head(entry, entry.name in regressed, screen),
        _block("parameters", _parameters(entry), screen),
        _block("runs", _runs(entry, screen), screen),
        _block("requirements", [_requirement(result, screen) for result in entry.requirements], screen),
        _block("metrics", _metrics(entry, screen), screen),
        _stages(entry, folder, screen),
        _log(entry, folder, screen),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _head(entry: EntryView, is_regressed: bool, screen: Screen) -> str:
    word = str(entry.outcome or "not run yet").replace("_", " ")
    lines = [f"{printable(entry.name)}: {word}" + (", regressed" if is_regressed else "")]
    colour = "bad" if is_regressed or not entry.passed else "dim" if entry.undecided else "good"
    lines[0] = screen.paint(colour, lines[0])
    lines += [f"  {printable(reason)}" for reason in entry.reasons]
    lines += [f"  {gate.result}: {printable(gate.reason_line)}" for gate in entry.gates if gate.result != "fail"]
    command = next((run.command for run in entry.runs if run.command), "")
    return "\n".join([*lines, *([f"  {printable(' '.join(command.split()))}"] if command else [])])


def _block(title: str, lines: Sequence[str], screen: Screen) -> str:
    return "\n".join([screen.paint("dim", title), *(f"  {line}" for line in lines)]) if lines else ""


def _parameters(entry: EntryView) -> list[str]:
    found: dict[str, list[Any]] = {}
    for run in entry.counted:
        for key, value in run.script_params.items():
            values = found.setdefault(str(key), [])
            values += [value] if value not in values else []
    width = max((len(printable(key)) for key in found), default=0)
    return [
        f"{printable(key).ljust(width)}  {', '.join(printable(str(value))[:_MOST_SHOWN] for value in values)}"
        for key, values in found.items()
    ]


def _runs(entry: EntryView, screen: Screen) -> list[str]:
    rows = [_run(run) for run in entry.runs]
    return text_table(rows, right=(2, 3), most=screen.width and screen.width - 2).split("\n") if rows else []


def _run(run: Record) -> tuple[str, str, str, str, str]:
    mark = "warm-up" if run.warmup else "tried again" if run.superseded else ""
    warnings = "; ".join([*([mark] if mark else []), *map(printable, run.warnings), *disturbances(run)])
    return (
        printable(run.run_id.rpartition("/")[2]),
        run.outcome.words,
        duration(run.exec_time_s),
        memory_words(run.usage.peak_rss_mb),
        warnings,
    )


def _requirement(result: RequirementResult, screen: Screen) -> str:
    actual = "missing" if result.actual is None else quantity(result.actual)
    mark = screen.paint("good", "✓") if result.ok else screen.paint("bad", "✗")
    return f"{mark} {printable(result.metric)} {printable(result.expected)} (is {printable(actual)})"


def _metrics(entry: EntryView, screen: Screen) -> list[str]:
    metrics = sorted(entry.metrics(), key=lambda metric: is_task_metric(metric.name))
    rows = [(printable(metric.name), metric_words(metric)[len(printable(metric.name)) :].strip()) for metric in metrics]
    return text_table(rows, most=screen.width and screen.width - 2).split("\n") if rows else []


def _stages(entry: EntryView, folder: SessionFolder, screen: Screen) -> str:
    """How often each stage was called and how long that took, in the run that stands for the entry."""
    run = entry.shown
    pipelines = stage_breakdown(RunFolder(folder, run).tasks()) if run is not None else ()
    if run is None or not pipelines:
        return ""
    rows = [("stage", "calls", "time", "share", "median", "p95")]
    for pipeline in pipelines:
        for stage in pipeline.stages:
            name = f"{pipeline.pipeline}/{stage.name}" if pipeline.pipeline else stage.name
            median, high = (quantity(float(f"{value:.3g}"), "s") for value in (stage.p50_s, stage.p95_s))
            rows.append(
                (printable(name), f"{stage.calls:,}", duration(stage.seconds), f"{stage.share:.0%}", median, high)
            )
    table = text_table(rows, right=(1, 2, 3, 4), most=screen.width and screen.width - 2)
    return _block(f"tasks of {run.run_id.rpartition('/')[2]}", table.split("\n"), screen)


def _log(entry: EntryView, folder: SessionFolder, screen: Screen) -> str:
    run = entry.shown
    files = RunFolder(folder, run) if run is not None else None
    if files is None or not files.log.is_file():
        return ""
    return f"log: {log_path(folder, files, screen)}"
