"""What `assay run -- COMMAND` says at its end: a block for each command, and of several which is fastest."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

from assay.analysis.evidence import OutlyingRun, outlying_runs
from assay.analysis.ranking import RankedEntry, entry_ranking
from assay.record import Record, SessionFolder
from assay.report.quantity import number, printable, round_quantity
from assay.report.session_view import EntryView, SessionView
from assay.report.text.ranking import ranking_lines, relative_words
from assay.report.text.screen import (
    PLAIN,
    Screen,
    TimeFormat,
    bar,
    columns,
    distribution,
    mean_and_spread,
    middle_cut,
    pad,
    plain_times,
    text_table,
    wrap_text,
)
from assay.report.text.session import failures

_LABEL = 10
_HALF = 36
"""Columns of a block's left side."""
_BAR = 24
_SHORT = 28
"""Columns of a command that stands for itself in a sentence; a longer one goes by its entry's name."""


def one_command(entry: EntryView, screen: Screen = PLAIN) -> str:
    """Lines about one command whose runs were measured; failures are told elsewhere."""
    runs = entry.measured
    head = screen.paint("bold", _fit(command_of(entry), screen.width))
    return "\n".join([head, *_block(runs, screen), *_notes(runs, screen)])


def several_commands(entries: Sequence[EntryView], screen: Screen = PLAIN) -> str:
    """One line each, the fastest first, and what can be said of it against the others."""
    by_name = {entry.name: entry for entry in entries}
    ranked = [one for one in entry_ranking([run for entry in entries for run in entry.runs]) if one.runs]
    commands = {one.name: command_of(by_name[one.name]) for one in ranked}
    if len(set(commands.values())) < len(commands):
        commands = {one.name: printable(one.name) for one in ranked}
    labels = {name: said if columns(said) <= _SHORT else printable(name) for name, said in commands.items()}
    lines = [_table(ranked, commands, screen)] if ranked else []
    for one in ranked:
        notes = _outliers(outlying_runs(one.runs), len(one.runs))
        lines += [screen.paint("dim", wrap_text(f"{labels[one.name]}: {note}", screen.width, "  ")) for note in notes]
    said = [wrap_text(line, screen.width) for line in ranking_lines(ranked, labels)]
    return "\n".join([*lines, *([""] if said else []), *said])


def command_of(entry: EntryView) -> str:
    """The command as it was started, on one line."""
    written = next((run.command for run in entry.runs if run.command), "")
    return printable(" ".join(written.split())) if written else printable(entry.name)


def _block(runs: Sequence[Record], screen: Screen) -> list[str]:
    times = plain_times([run.exec_time_s for run in runs])
    if not times:
        return ["  no time is known"]
    scale = TimeFormat(times)
    count = f"{len(runs)} run" + ("s" if len(runs) > 1 else "")
    memory = max(run.usage.peak_rss_mb for run in runs)
    user, system = (round_quantity(fmean(part), "s") for part in _processor_times(runs))
    cpu, peak = f"{user} user, {system} system", f"{number(float(f'{memory:.3g}'))} MB peak" if memory else "not seen"
    if len(runs) == 1:
        rows = [("time", scale(times[0]), count, ""), ("CPU", cpu, "memory", peak)]
    else:
        rows = [
            ("mean ± σ", mean_and_spread(times), count, ""),
            ("min … max", f"{scale.bare(min(times))} … {scale(max(times))}", "median", scale(median(times))),
            ("CPU", cpu, "memory", peak),
        ]
    lines = [_row(*row, screen) for row in rows]
    shape = distribution(times)
    if shape:
        lines.insert(2, f"  {pad('', _LABEL)}  {screen.paint('dim', shape)}")
    return lines


def _row(label: str, value: str, other: str, figure: str, screen: Screen) -> str:
    left = f"  {screen.paint('dim', pad(label, _LABEL))}  {pad(value, _HALF)}"
    right = f"{screen.paint('dim', other)} {figure}" if figure else other
    return f"{left}  {right}".rstrip()


def _processor_times(runs: Sequence[Record]) -> tuple[list[float], list[float]]:
    return [run.usage.cpu_user_s for run in runs], [run.usage.cpu_system_s for run in runs]


def _notes(runs: Sequence[Record], screen: Screen) -> list[str]:
    lines = _outliers(outlying_runs(runs), len(runs))
    return [screen.paint("dim", wrap_text(line, screen.width, "  ")) for line in lines]


def _outliers(found: Sequence[OutlyingRun], total: int) -> list[str]:
    """Together where nothing is known of the reason, by themselves where something is."""
    lines = []
    unexplained = [one for one in found if not one.reasons]
    for one in found:
        if one.reasons:
            lines.append(f"run {one.run.repeat} was {_apart(one.ratio)} (likely: {'; '.join(one.reasons)})")
    if unexplained:
        worst = max(unexplained, key=lambda one: abs(one.ratio - 1))
        many = f"1 of {total} runs stands apart: number {worst.run.repeat} was"
        if len(unexplained) > 1:
            many = f"{len(unexplained)} of {total} runs stand apart, number {worst.run.repeat} farthest:"
        lines.append(f"{many} {_apart(worst.ratio)}")
    return lines


def _apart(ratio: float) -> str:
    if ratio >= 2:
        return f"{ratio:.1f} times as slow as the median"
    return f"{abs(ratio - 1):.0%} {'slower' if ratio > 1 else 'faster'} than the median"


def _table(ranked: Sequence[RankedEntry], labels: dict[str, str], screen: Screen) -> str:
    means = {one.name: fmean(plain_times([run.exec_time_s for run in one.runs]) or [0.0]) for one in ranked}
    slowest = max(means.values()) or 1.0
    width = _BAR if screen.width is None or screen.width >= 100 else 12
    rows = [("command", "mean ± σ", "", "relative")]
    for one in ranked:
        times = mean_and_spread([run.exec_time_s for run in one.runs])
        shown = pad(bar(means[one.name] / slowest, width), width)
        rows.append((f"  {labels[one.name]}", times, shown, relative_words(ranked[0], one)))

    def paint(row: int, column: int, cell: str) -> str:
        if row == 0:
            return screen.paint("dim", cell)
        return screen.paint("good", cell) if row == 1 and column == 2 else cell

    most = screen.width or 160
    last = max(columns(row[3]) for row in rows)
    name = max(14, most - last - width - max(columns(row[1]) for row in rows) - 6)
    rows = [(middle_cut(row[0], name), *row[1:]) for row in rows]
    return text_table(rows, right=(1,), paint=paint)


def _fit(text: str, width: int | None) -> str:
    return text if width is None else middle_cut(text, width)


def command_summary(folder: SessionFolder, *, changes: Sequence[str] = (), screen: Screen = PLAIN) -> str:
    """What came of commands without YAML: what failed first, then times, then `changes` since the last time."""
    view = SessionView.of(folder)
    measured = [entry for entry in view.entries if entry.measured]
    blocks = [failures(view, folder, screen)]
    if len(view.entries) == 1:
        blocks += [one_command(entry, screen) for entry in measured]
    elif measured:
        blocks.append(several_commands(measured, screen))
    blocks.append("\n".join(wrap_text(line.lstrip(), screen.width, line[: -len(line.lstrip())]) for line in changes))
    return "\n\n".join(block for block in blocks if block) + "\n"
