"""The lines of `assay compare` and `assay ab` between the answer and the values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.analysis.conditions import also_different
from assay.analysis.sentences.metric_words import share

if TYPE_CHECKING:
    from assay.analysis.comparison import Comparison, Row


def sides(comparison: Comparison, most: int | None = 4) -> list[str]:
    """What A and B are, and what else differs between them: `A = monday (6 runs)`, …"""
    base = [row.base_runs for row in comparison.rows if row.base_runs]
    head = [row.head_runs for row in comparison.rows if row.head_runs]
    named = [
        f"A = {comparison.base.removeprefix('A: ')}{_runs(base)}",
        f"B = {comparison.head.removeprefix('B: ')}{_runs(head)}",
    ]
    differences = also_different(comparison.environment, most)
    return [*named, *([differences] if differences else [])]


def change(row: Row) -> str:
    """`15.0% slower (12% … 18%)`; where there is no ratio, the reason, which has both values."""
    if row.ratio is None:
        return row.reason
    between = "" if row.low is None or row.high is None else row.words.range(row.low, row.high)
    return row.words.change(row.ratio) + (f" ({between})" if between else "")


def together(count: int, reason: str) -> str:
    """A reason that several rows above it share."""
    return f"{count} inconclusive: {reason}" if reason.startswith("can't tell") else f"these {count}: {reason}"


def count_unchanged(rows: Sequence[Row]) -> str:
    margins = sorted({row.margin for row in rows if row.margin > 0})
    within = "" if not margins else f" (within {share(margins[0])})"
    if len(margins) > 1:
        within = f" (within {share(margins[0])} to {share(margins[-1])})"
    return f"{len(rows)} metric{'' if len(rows) == 1 else 's'} unchanged{within}"


def _runs(counts: Sequence[int]) -> str:
    """Runs of an entry; entries may have more or fewer."""
    if not counts:
        return ""
    few, many = min(counts), max(counts)
    if few == many:
        return f" ({few} run{'' if few == 1 else 's'})"
    return f" ({few} to {many} runs)"
