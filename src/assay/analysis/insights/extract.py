from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from assay.analysis.insights.bottlenecks import (
    bottleneck,
    compression,
    find_steep_scaling,
    interference,
    past_the_knee,
    sweep_scaling,
)
from assay.analysis.insights.insight import EntryRuns, Insight
from assay.analysis.insights.measurement_quality import measurement, memory_growth
from assay.record import Outcome, Record

RULES: tuple[Callable[[EntryRuns], Iterator[Insight]], ...] = (
    bottleneck,
    find_steep_scaling,
    memory_growth,
    compression,
    past_the_knee,
    interference,
    measurement,
)
MOST_A_KIND = 5
"""Most insights of one kind in one entry; a suite of forty scenarios would otherwise say forty times the same."""


def extract(records: Iterable[Record], folder: Path | None = None) -> list[Insight]:
    """Insights, the gravest first. `folder`: the session's, if its files can be read."""
    by_entry: dict[str, list[Record]] = {}
    for record in records:
        if record.counts and record.outcome in (Outcome.PASSED, Outcome.MISSED):
            by_entry.setdefault(record.name, []).append(record)
    entries = [EntryRuns(name, runs, folder) for name, runs in by_entry.items()]
    found = [insight for entry in entries for rule in RULES for insight in _limit(rule(entry))]
    found += _limit(sweep_scaling(entries))
    return sorted(found, key=lambda insight: -insight.severity)


def _limit(insights: Iterator[Insight]) -> list[Insight]:
    return sorted(insights, key=lambda insight: -insight.severity)[:MOST_A_KIND]


def recommendations(insights: Iterable[Insight]) -> list[str]:
    """What to do, once each, with why."""
    by_advice: dict[str, list[Insight]] = {}
    for insight in insights:
        if insight.advice:
            by_advice.setdefault(insight.advice, []).append(insight)
    return [
        f"{advice[0].upper()}{advice[1:]} (because {'; '.join(map(str, reasons[:3]))}"
        + (f" and {len(reasons) - 3} more" if len(reasons) > 3 else "")
        + ")"
        for advice, reasons in by_advice.items()
    ]
