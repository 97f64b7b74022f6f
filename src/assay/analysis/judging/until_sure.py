from __future__ import annotations

from collections.abc import Iterable

from assay.analysis.comparing.comparison import Comparison, Row
from assay.analysis.verdict import Verdict
from assay.stats.sequential import looks

__all__ = ["looks", "open_entries"]

CHANGED = (Verdict.IMPROVED, Verdict.REGRESSED)


def open_entries(comparison: Comparison) -> set[str]:
    """Entries for which more pairs could still decide something that has a direction.

    However noisy the pairs so far, the budget is theirs: a wide interval may be due to one burst that more pairs put in
    its place, and only a verdict ends it before.
    """
    by_entry: dict[str, list[Row]] = {}
    for row in comparison.rows:
        if row.better is not None:
            by_entry.setdefault(row.entry, []).append(row)
    return {entry for entry, rows in by_entry.items() if _open(rows)}


def _open(rows: Iterable[Row]) -> bool:
    by_metric = {row.metric: row for row in rows}
    cpu = by_metric.get("usage.cpu_s")
    if cpu is not None and cpu.verdict in CHANGED:
        # More work is more work, whatever the clock on the wall says on a busy machine.
        by_metric.pop("exec_time_s", None)
    return any(row.verdict is Verdict.INCONCLUSIVE for row in by_metric.values())
