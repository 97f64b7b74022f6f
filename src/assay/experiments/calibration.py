from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from assay.analysis import Comparison, Row, Verdict
from assay.analysis.evidence import sample
from assay.analysis.judgement import pairs_needed
from assay.analysis.rules import NoiseFloor
from assay.analysis.sentences.conclusion_sentences import verdict_word
from assay.analysis.sentences.note_sentences import confirmation
from assay.analysis.sentences.verdict_sentences import not_confirmed
from assay.experiments.ab import Found, complete_pairs


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


@dataclass(frozen=True)
class Calibrated:
    row: Row
    floor: float
    """The largest difference between identical code that these pairs cannot rule out."""
    pairs_needed: int | None
    """Pairs with which identical code is called equivalent in most experiments; None if hundreds would not do."""

    @property
    def suspicious(self) -> bool:
        """Identical code was called different: something favours one side."""
        return self.row.verdict in (Verdict.IMPROVED, Verdict.REGRESSED)


def calibrate(found: Found) -> list[Calibrated]:
    return [
        Calibrated(row, max(row.high, 1 / row.low) - 1, _find_pairs_needed(found, row))
        for row in found.comparison.rows
        if row.low is not None and row.high is not None and row.better is not None
    ]


def _find_pairs_needed(found: Found, row: Row) -> int | None:
    a, b = (
        sample([run.metrics for run in side], row.metric) for side in complete_pairs(found.records, row.entry)
    )  # fmt: skip
    return pairs_needed(a.values, b.values) if a and b and a.values.size == b.values.size else None


def floors(found: Found, measured: Iterable[Calibrated], names: Sequence[str]) -> list[NoiseFloor]:
    """Noise floors, by the fingerprint that ordinary runs of the entry have, so that `compare` finds them."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    keys = {name: base[0].fingerprint.key for name in names if (base := complete_pairs(found.records, name)[0])}
    return [
        NoiseFloor(item.row.entry, item.row.metric, keys[item.row.entry], item.floor, item.row.head_runs, now)
        for item in measured
        if item.row.entry in keys
    ]
