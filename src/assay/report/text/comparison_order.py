from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.analysis import Comparison, Row
from assay.analysis.comparing.comparison import GRAVEST_FIRST


def order_rows(comparison: Comparison) -> list[Row]:
    """What somebody has to look at first; within a verdict the largest change."""
    return sorted(
        comparison.rows,
        key=lambda row: (GRAVEST_FIRST.index(row.verdict), -abs((row.ratio or 1.0) - 1.0), row.entry, row.metric),
    )


def by_reason(rows: Iterable[Row]) -> list[Sequence[Row]]:
    """Rows that one sentence explains, together, in the order they come in."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.reason, []).append(row)
    return list(groups.values())
