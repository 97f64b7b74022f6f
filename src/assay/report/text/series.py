"""What is said of a change point: how far, and where it may be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import median

from assay.analysis import Comparison, Row, Verdict
from assay.analysis.comparison import OWN
from assay.analysis.conditions import also_different
from assay.analysis.sentences.metric_words import MetricWords
from assay.analysis.series_changes import ChangePoint, series_changes
from assay.history import Point, Series
from assay.history.rows import Accepted, SessionRow
from assay.record import Fingerprint
from assay.report.quantity import percent, printable, quantity
from assay.report.text.screen import text_table

_SHORT = 10
"""Characters of a commit."""
_LISTED = 5


def change_size(change: ChangePoint) -> str:
    """Size of a change in per cent of the level before; as a difference where that is zero or either is negative."""
    if change.ratio is not None and change.before > 0 and change.after >= 0:
        return percent(change.ratio)
    difference = change.after - change.before
    return ("+" if difference > 0 else "−") + quantity(abs(difference), change.unit)


def change_words(change: ChangePoint) -> str:
    """`50.0% slower`; as a difference where it has no per cent."""
    if change.ratio is not None and change.before > 0 and change.after >= 0:
        return MetricWords.of(change.metric, change.unit, change.better).change(change.ratio)
    return change_size(change)


def change_sessions(change: ChangePoint) -> str:
    if change.possible == 1:
        return f"from {change.session} on"
    which = f"{change.earliest} to {change.latest}, most likely {change.session}"
    return f"from one of {change.possible} sessions on ({which})"


def change_commits(change: ChangePoint) -> str:
    """A single commit only where one session alone can be the first at the new level."""
    before, after, measured = change.commit_before, change.commit_after, change.commits
    if not measured:
        return "commit not known"
    if set(measured) == {before}:
        return f"the same commit {measured[0][:_SHORT]} before and after"
    if len(measured) == 1 and change.possible == 1:
        return f"at commit {measured[0][:_SHORT]}" + (f" (before it: {before[:_SHORT]})" if before else "")
    if before is None or after is None:
        more = " …" if len(measured) > _LISTED else ""
        return f"commits measured there: {', '.join(commit[:_SHORT] for commit in measured[:_LISTED])}{more}"
    new = [commit for commit in measured if commit != before]
    return f"between {before[:_SHORT]} and {after[:_SHORT]}: {_commits(len(new))} measured"


def _commits(count: int) -> str:
    return "1 commit" if count == 1 else f"{count} commits"


# Series of the history as printed text.

_BARS = "▁▂▃▄▅▆▇█"


def series_table(series: Sequence[Series]) -> str:
    if not series:
        return "no series: nothing that passed has been recorded (`assay history import` reads session folders)\n"
    rows: list[tuple[str, ...]] = [("entry", "metric", "values", "latest", "at", "better", "fingerprint")]
    rows += [
        (printable(s.entry), printable(s.metric), str(s.points), printable(quantity(s.latest, s.unit)),
         s.latest_at[:16].replace("T", " "), s.better or "–", s.fingerprint)
        for s in series
    ]  # fmt: skip
    return text_table(rows, right=(2, 3)) + "\n"


def trend(
    series: Series,
    fingerprint: Fingerprint | None,
    points: Sequence[Point],
    newest: int = 10,
    accepted: Sequence[Accepted] = (),
) -> str:
    values = [point.value for point in points]
    better = f", {series.better} is better" if series.better else ""
    lines = [
        f"{printable(series.entry)} · {printable(series.metric)}{better} · {len(points)} of {series.points} values",
        f"  {sparkline(values)}",
        f"  {_range(values, series.unit)}",
    ]
    if fingerprint is not None:
        project = f"project {fingerprint.project}, " if fingerprint.project else ""
        version = f"workload {fingerprint.workload}, " if fingerprint.workload else ""
        parts = f"{project}params {fingerprint.params}, {version}{fingerprint.machine}"
        lines.append(f"  {series.fingerprint}: {printable(parts)}")
    lines += [f"  {printable(accepted_words(one))}" for one in accepted if one.covers(series.metric)]
    for change in series_changes(series, points):
        levels = f"{quantity(change.before, series.unit)} → {quantity(change.after, series.unit)}"
        what = f"{change.verdict or 'changed'} {change_sessions(change)}: {levels}, {change_words(change)}"
        lines.append(f"  {printable(what)}; {printable(change_commits(change))}")
    middle = median(values)
    for point in points[-newest:]:
        known = middle > 0 and math.isfinite(middle)
        against = f"  {percent(point.value / middle)} against the median" if known else ""
        commit = f"  git {printable(point.git_commit)[:10]}" if point.git_commit else ""
        lines.append(
            f"  {point.started_at[:19].replace('T', ' ')}  {quantity(point.value, series.unit):>12}{commit}{against}"
            f"  {printable(point.session)}"
        )
    return "\n".join(lines) + "\n"


def accepted_words(one: Accepted) -> str:
    return f"accepted as the baseline from {one.session} on, by {one.who} on {one.at[:10]}: {one.reason}"


def _range(values: Sequence[float], unit: str | None) -> str:
    low, middle, high = (quantity(value, unit) for value in (min(values), median(values), max(values)))
    return f"lowest {low}, median {middle}, highest {high}"


def sparkline(values: Sequence[float], width: int = 100) -> str:
    """The newest `width` values as bars between their lowest and highest."""
    shown = list(values)[-width:]
    low, high = min(shown), max(shown)
    if high == low:
        return _BARS[3] * len(shown)
    return "".join(_BARS[min(7, int((value - low) / (high - low) * 8))] for value in shown)


# What is said of a command against the last time it ran.

_WORDS = {OWN[0]: ("", "slower", "faster"), OWN[1]: ("CPU time ", "more", "less"), OWN[2]: ("memory ", "more", "less")}
_CANNOT = "can't tell: "


def last_time_lines(comparison: Comparison, last: SessionRow | None, now: datetime | None = None) -> list[str]:
    """The time whatever is known of it; CPU time and memory where they changed."""
    rows = {row.metric: row for row in comparison.rows}
    said = [_sentence(row) for row in comparison.rows if row.metric == OWN[0] or not row.metric]
    said += [_sentence(rows[name]) for name in OWN[1:] if name in rows and _has_changed(rows[name])]
    notes = [*comparison.notes, *(note for name in OWN[:1] if name in rows for note in rows[name].notes)]
    besides = also_different(comparison.environment, most=3)
    lines = [f"vs last time{_when(last, now)}: {'; '.join(said)}"] if said else []
    lines += [f"  note: {note}" for note in notes]
    return [printable(line) for line in [*lines, *([besides] if besides else [])]]


def ago(then: str, now: datetime | None = None) -> str:
    """`2 h ago`."""
    seconds = max(0.0, ((now or datetime.now(UTC)) - datetime.fromisoformat(then)).total_seconds())
    for size, word in ((86400 * 2, "days"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // (86400 if word == 'days' else size):.0f} {word} ago"
    return f"{seconds:.0f} s ago"


def _when(last: SessionRow | None, now: datetime | None) -> str:
    if last is None:
        return ""
    commit = f", {last.git_commit[:7]}{' changed' if last.git_dirty else ''}" if last.git_commit else ""
    return f" ({ago(last.started_at, now)}{commit})"


def _has_changed(row: Row) -> bool:
    return row.verdict in (Verdict.REGRESSED, Verdict.IMPROVED)


def _sentence(row: Row) -> str:
    if row.verdict is Verdict.EQUIVALENT:
        return f"no change{_interval(row)}"
    what, more, less = _WORDS.get(row.metric, ("", "more", "less"))
    if _has_changed(row) and row.ratio is not None:
        size = f"{row.ratio:.2f} times" if row.ratio >= 2 else percent(row.ratio).lstrip("+−")
        return f"{what}{size} {more if row.ratio > 1 else less}{_interval(row)}"
    return f"{what}{_CANNOT}{row.reason.removeprefix(_CANNOT)}"


def _interval(row: Row) -> str:
    return "" if row.low is None or row.high is None else f" ({percent(row.low)} … {percent(row.high)})"
