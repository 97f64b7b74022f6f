"""Which of several entries that ran in turn is the fastest, and by how much the others are slower.

All pairs are judged in one table, so that the correction for many questions covers the choice of the fastest too; what
is shown of it are the pairs that the fastest is part of. The runs of a round stood beside each other in random order:
they are compared as pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import median

from assay.analysis.comparing.compare_records import compare
from assay.analysis.comparing.comparison import Row
from assay.analysis.failure import MEASURED
from assay.record import Record

MOST_COMPARED = 40
"""Entries: all pairs of more would take seconds to judge, and say little."""
_TIME = "exec_time_s"
_BETWEEN = "\n"
"""Separator of two names: no name holds it."""


@dataclass(frozen=True)
class RankedEntry:
    name: str
    runs: tuple[Record, ...]
    """Those that were measured, in order; none of an entry that never was."""
    against: Row | None = None
    """Its time against that of the fastest; None of the fastest itself, of what was not measured or has no round in
    common with it, and of all where there are more than are compared."""

    @property
    def seconds(self) -> float:
        return median(run.exec_time_s for run in self.runs)


def entry_ranking(records: Sequence[Record]) -> tuple[RankedEntry, ...]:
    """The fastest first; what was never measured last."""
    names = dict.fromkeys(record.name for record in records if record.counts)
    found = [
        RankedEntry(name, tuple(r for r in records if r.name == name and r.counts and r.outcome in MEASURED))
        for name in names
    ]
    measured = sorted((one for one in found if one.runs), key=lambda one: one.seconds)
    rows = _judge_pairs(measured) if len(measured) <= MOST_COMPARED else {}
    fastest = measured[:1]
    others = [replace(one, against=rows.get(fastest[0].name + _BETWEEN + one.name)) for one in measured[1:]]
    return (*fastest, *others, *(one for one in found if not one.runs))


def _judge_pairs(measured: Sequence[RankedEntry]) -> dict[str, Row]:
    """Verdicts on the time of every pair, by the names of both, the faster one's first."""
    base: list[Record] = []
    head: list[Record] = []
    for one, other in combinations(measured, 2):
        pair = one.name + _BETWEEN + other.name
        before, after = ({run.repeat: run for run in side.runs} for side in (one, other))
        both = sorted(before.keys() & after.keys())
        base += [_bare(before[at], pair) for at in both]
        head += [_bare(after[at], pair) for at in both]
    if not base:
        return {}
    return {row.entry: row for row in compare(base, head, paired=True).rows if row.metric == _TIME}


def _bare(record: Record, name: str) -> Record:
    """The record with nothing but what Assay measured, under the pair's name. Its program and parameters are dropped:
    that they differ is the very thing that is asked about."""
    fingerprint = replace(record.fingerprint, entry=name, params="", workload="")
    return replace(record, name=name, fingerprint=fingerprint, script_metrics={}, metrics_detail={}, script_params={})
