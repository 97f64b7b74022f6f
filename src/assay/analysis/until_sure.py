from __future__ import annotations

from collections.abc import Iterable
from math import inf, log, log1p, sqrt

from assay.analysis.comparison import Comparison, Row
from assay.analysis.verdict import Verdict
from assay.stats.sequential import NARROW, looks

__all__ = ["looks", "open_entries", "settled"]

CHANGED = (Verdict.IMPROVED, Verdict.REGRESSED)
_HOPELESS = 3.0
"""Margins. An interval that will still be wider at the end of the budget calls nothing equivalent."""


def open_entries(comparison: Comparison, budget: int) -> set[str]:
    """Entries for which more pairs, up to the budget, could still decide something that has a direction."""
    by_entry: dict[str, list[Row]] = {}
    for row in comparison.rows:
        if row.better is not None:
            by_entry.setdefault(row.entry, []).append(row)
    return {entry for entry, rows in by_entry.items() if _open(rows, budget)}


def _open(rows: Iterable[Row], budget: int) -> bool:
    by_metric = {row.metric: row for row in rows}
    cpu = by_metric.get("usage.cpu_s")
    if cpu is not None and cpu.verdict in CHANGED:
        # More work is more work, whatever the clock on the wall says on a busy machine.
        by_metric.pop("exec_time_s", None)
    return not all(settled(row) or _hopeless(row, budget) for row in by_metric.values())


def settled(row: Row) -> bool:
    """More runs would not change what is said: there is a verdict, or the interval is narrow already."""
    return row.verdict is not Verdict.INCONCLUSIVE or _half(row) < NARROW * log1p(row.margin)


def _hopeless(row: Row, budget: int) -> bool:
    """So noisy that the rest of the budget would be spent for another "inconclusive"."""
    if row.ratio is None or not row.head_runs:
        return False
    shrinks = sqrt(row.head_runs / max(budget, row.head_runs))
    return (
        _half(row) * shrinks > _HOPELESS * log1p(row.margin) and abs(log(row.ratio)) < log1p(row.floor) * shrinks
    )  # fmt: skip


def _half(row: Row) -> float:
    if row.low is None or row.high is None or row.low <= 0:
        return inf
    return (log(row.high) - log(row.low)) / 2
