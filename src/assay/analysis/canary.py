from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from assay.analysis.comparison import Row
from assay.analysis.verdict import Verdict

CHANGED = (Verdict.IMPROVED, Verdict.REGRESSED)


def told_by_canaries(rows: Iterable[Row], canaries: set[str]) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """A canary runs code that does not change, so what changes in it is the machine: no verdict, and a note beside all
    others. The rows, and the notes."""
    seen = tuple(rows)
    moved = [row for row in seen if row.entry in canaries and row.verdict in CHANGED]
    if not moved:
        return seen, ()
    named = ", ".join(f"{row.entry} {row.metric} {_how_far(row)}" for row in moved[:3])
    note = f"the machine moved: {named} in a canary, whose code is fixed; other changes here may be the machine's too"
    told = tuple(
        replace(row, verdict=Verdict.INCONCLUSIVE, reason=f"a canary moved with its machine: {row.reason}")
        if row in moved
        else row
        for row in seen
    )
    return told, (note,)


def _how_far(row: Row) -> str:
    return f"({row.reason})" if row.ratio is None else f"{row.ratio - 1:+.1%}"
