from __future__ import annotations

from collections import Counter

from assay.analysis.comparison import Comparison, Row
from assay.analysis.environment_difference import also_different
from assay.analysis.verdict import Verdict


def summary_lines(comparison: Comparison, most: int = 12) -> list[str]:
    """What changed, in a few lines of plain text: regressions first, then improvements, then what could not be told."""
    changed = [
        *comparison.regressed,
        *comparison.of(Verdict.IMPROVED),
        *(row for row in comparison.rows if row.unordered),
    ]
    lines = [_line(row) for row in changed[:most]]
    if len(changed) > most:
        lines.append(f"and {len(changed) - most} more: assay compare {comparison.base} {comparison.head}")
    counts = comparison.counts
    rest = [
        f"{counts[verdict]} {verdict}"
        for verdict in (Verdict.EQUIVALENT, Verdict.INCONCLUSIVE, Verdict.NOT_COMPARABLE)
        if counts[verdict]
    ]
    if rest:
        told = "" if changed else _without_change(comparison)
        lines.append(f"against {comparison.base}: {told}{', '.join(rest)}")
    lines += _why_not(comparison)
    besides = also_different(comparison.environment, most=3)
    return [*lines, *comparison.notes, *([besides] if besides else [])]


def _without_change(comparison: Comparison) -> str:
    if not comparison.compared:
        return "nothing could be compared: "
    only_equivalent = all(row.verdict is Verdict.EQUIVALENT for row in comparison.rows)
    return "nothing changed: " if only_equivalent else "no change can be shown: "


def _line(row: Row) -> str:
    if row.unordered:
        return f"changed: {row.entry} {row.metric}: {row.reason.removeprefix('changed: ')}"
    ratio = "" if row.ratio is None else f" {row.ratio - 1:+.1%}"
    interval = "" if row.low is None or row.high is None else f" ({row.low - 1:+.1%} to {row.high - 1:+.1%})"
    notes = f"; {'; '.join(row.notes)}" if row.notes else ""
    return f"{row.verdict}: {row.entry} {row.metric}{ratio}{interval}{notes}"


def _why_not(comparison: Comparison) -> list[str]:
    """The commonest reason of what stayed open, since it is the one to do something about."""
    reasons = Counter(row.reason for row in comparison.of(Verdict.INCONCLUSIVE) if not row.unordered)
    return [f"{count} inconclusive: {reason}" for reason, count in reasons.most_common(1)]
