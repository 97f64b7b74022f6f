from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from assay.analysis.conditions import disturbances
from assay.record import Record
from assay.stats.robust import find_outliers

NOTABLE = 0.03
"""Share of the median below which a run that stands apart is not worth a word."""


@dataclass(frozen=True)
class OutlyingRun:
    """A run whose time stands apart from the others of its entry."""

    run: Record
    ratio: float
    """Its time over the median of all."""
    reasons: tuple[str, ...] = ()
    """What was different about it, as far as that was recorded: likely causes, none of them proven."""


def outlying_runs(runs: Sequence[Record]) -> tuple[OutlyingRun, ...]:
    """Runs that stand apart, in the order they ran. What every run had to bear explains none of them."""
    typical = median(run.exec_time_s for run in runs) if runs else 0.0
    if typical <= 0:
        return ()
    found = [runs[outlier.index] for outlier in find_outliers([run.exec_time_s for run in runs])]
    apart = [run for run in found if abs(run.exec_time_s / typical - 1) >= NOTABLE]
    others = [run for run in runs if run not in found]
    return tuple(OutlyingRun(run, run.exec_time_s / typical, _reasons(run, runs[0], others)) for run in apart)


def _reasons(run: Record, first: Record, others: Sequence[Record]) -> tuple[str, ...]:
    if run.exec_time_s <= median(other.exec_time_s for other in others):
        return ()
    if 2 * sum(bool(disturbances(other)) for other in others) < len(others):
        known = tuple(disturbances(run))
        if known:
            return known
    return ("it was the first: `--warmup 1` leaves such a run out",) if run is first else ()
