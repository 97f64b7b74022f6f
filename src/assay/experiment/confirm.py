from __future__ import annotations

from dataclasses import replace

from assay.analysis import Comparison, Row, Verdict
from assay.analysis.sentences.conclusion_sentences import verdict_word
from assay.analysis.sentences.note_sentences import confirmation
from assay.analysis.sentences.verdict_sentences import not_confirmed


def confirm(first: Comparison, second: Comparison) -> Comparison:
    """What looked regressed stands only if fresh runs of it, judged on their own, say so too."""
    again = {(row.entry, row.metric): row for row in second.rows}
    return replace(first, rows=tuple(_stands(row, again.get((row.entry, row.metric))) for row in first.rows))


def suspects(comparison: Comparison) -> set[str]:
    return {row.entry for row in comparison.regressed}


def _stands(row: Row, second: Row | None) -> Row:
    if row.verdict is not Verdict.REGRESSED:
        return row
    if second is not None and second.verdict is Verdict.REGRESSED:
        return replace(row, notes=(*row.notes, confirmation(second.head_runs, second.reason)))
    again = None if second is None else f"{verdict_word(second.verdict)}, {second.reason}"
    return replace(row, verdict=Verdict.INCONCLUSIVE, reason=not_confirmed(row.reason, again))
