from __future__ import annotations

from assay.analysis.comparison import Comparison, Row
from assay.analysis.verdict import Verdict


def summary_lines(comparison: Comparison, most: int = 12) -> list[str]:
    """What changed, in a few lines of plain text: regressions first, then improvements, then what could not be told."""
    changed = [*comparison.regressed, *comparison.of(Verdict.IMPROVED)]
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
        lines.append(f"against {comparison.base}: {'nothing changed; ' if not changed else ''}{', '.join(rest)}")
    reason = _most_common_reason(comparison)
    if reason:
        lines.append(reason)
    return [*lines, *comparison.notes]


def _line(row: Row) -> str:
    ratio = "" if row.ratio is None else f" {row.ratio - 1:+.1%}"
    interval = "" if row.low is None or row.high is None else f" ({row.low - 1:+.1%} to {row.high - 1:+.1%})"
    notes = f"; {'; '.join(row.notes)}" if row.notes else ""
    return f"{row.verdict}: {row.entry} {row.metric}{ratio}{interval}{notes}"


def _most_common_reason(comparison: Comparison) -> str:
    reasons = [row.reason for row in comparison.of(Verdict.INCONCLUSIVE)]
    if not reasons:
        return ""
    few = sum(reason.startswith("too few runs") for reason in reasons)
    if few == len(reasons):
        return next(reason for reason in reasons if reason.startswith("too few runs"))
    return ""
