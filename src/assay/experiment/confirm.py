from __future__ import annotations

from dataclasses import replace

from assay.analysis import Comparison, Row, Verdict


def confirmed(first: Comparison, second: Comparison) -> Comparison:
    """What looked regressed stands only if fresh runs of it, judged on their own, say so too."""
    again = {(row.entry, row.metric): row for row in second.rows}
    return replace(first, rows=tuple(_stands(row, again.get((row.entry, row.metric))) for row in first.rows))


def suspects(comparison: Comparison) -> set[str]:
    return {row.entry for row in comparison.regressed}


def _stands(row: Row, second: Row | None) -> Row:
    if row.verdict is not Verdict.REGRESSED:
        return row
    if second is not None and second.verdict is Verdict.REGRESSED:
        return replace(row, notes=(*row.notes, f"confirmed by {second.head_runs} fresh pairs: {second.reason}"))
    said = "could not be run again" if second is None else f"fresh pairs say {second.verdict} ({second.reason})"
    return replace(row, verdict=Verdict.INCONCLUSIVE, reason=f"looked regressed ({row.reason}), but {said}")
