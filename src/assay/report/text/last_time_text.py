"""What is said of a command against the last time it ran."""

from __future__ import annotations

from datetime import UTC, datetime

from assay.analysis import Comparison, Row, Verdict
from assay.analysis.comparing.comparison import OWN
from assay.analysis.comparing.environment_difference import also_different
from assay.history.rows import SessionRow
from assay.report.printable import printable
from assay.report.quantity import percent

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
