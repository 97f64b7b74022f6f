from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from assay.analysis.comparing.comparison import Row
from assay.analysis.sentences.metric_words import MetricWords
from assay.analysis.sentences.note_sentences import machine_moved
from assay.analysis.verdict import Verdict

CHANGED = (Verdict.IMPROVED, Verdict.REGRESSED)


def apply_canaries(rows: Iterable[Row], canaries: set[str]) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """A canary runs code that does not change, so what changes in it is the machine: no verdict, and a note beside all
    others. The rows, and the notes."""
    seen = tuple(rows)
    moved = [row for row in seen if row.entry in canaries and row.verdict in CHANGED]
    if not moved:
        return seen, ()
    named = ", ".join(f"{row.entry} {row.metric} {_how_far(row)}" for row in moved[:3])
    note = machine_moved(named)
    told = tuple(
        replace(row, verdict=Verdict.INCONCLUSIVE, reason=f"the machine changed, not the code: {row.reason}")
        if row in moved
        else row
        for row in seen
    )
    return told, (note,)


def _how_far(row: Row) -> str:
    if row.ratio is None:
        return f"({row.reason})"
    return MetricWords.of(row.metric, row.unit, row.better).change(row.ratio)
