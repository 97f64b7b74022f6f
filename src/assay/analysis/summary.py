from __future__ import annotations

from collections import Counter

from assay.analysis.comparing.comparison import Comparison, Row
from assay.analysis.comparing.environment_difference import also_different
from assay.analysis.sentences import summary_sentences as said
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
        lines.append(said.more(len(changed) - most, comparison.base, comparison.head))
    counts = comparison.counts
    rest = {
        str(verdict): counts[verdict]
        for verdict in (Verdict.EQUIVALENT, Verdict.INCONCLUSIVE, Verdict.NOT_COMPARABLE)
        if counts[verdict]
    }
    if rest:
        lines.append(said.rest(comparison.base, rest, compared=comparison.compared, changes=bool(changed)))
    lines += _why_not(comparison)
    besides = also_different(comparison.environment, most=3)
    return [*lines, *comparison.notes, *([besides] if besides else [])]


def _line(row: Row) -> str:
    metric = f"{row.entry} {row.metric}"
    if row.unordered:
        return said.change_without_order(metric, row.reason)
    line = said.change(row.verdict, metric, row.words, (row.before, row.head), row.ratio, (row.low, row.high))
    return "; ".join([line, *row.notes])


def _why_not(comparison: Comparison) -> list[str]:
    """The commonest reason of what stayed open, since it is the one to do something about."""
    reasons = Counter(row.reason for row in comparison.of(Verdict.INCONCLUSIVE) if not row.unordered)
    return [said.why_open(count, reasons.total(), reason) for reason, count in reasons.most_common(1)]
