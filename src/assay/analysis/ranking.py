"""Any number of sides held against the first of them: for each metric who is best, and by how much."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from math import isfinite
from statistics import median
from typing import Any

from assay.analysis.compare_records import compare
from assay.analysis.comparison import MEASURED, OWN, Comparison, Row, Verdict
from assay.analysis.evidence import median_interval
from assay.analysis.rules import direction
from assay.record import Record
from assay.record.metric import Better, Metric
from assay.record.task import is_task_metric


@dataclass(frozen=True)
class Standing:
    """One side's place in one metric."""

    side: int
    """Which of the sides, as they were given; 0 is the one that the others are held against."""
    value: float
    """Median of its runs."""
    low: float | None
    high: float | None
    """95% interval of the median; with fewer than six runs the lowest and the highest, of one run nothing."""
    runs: int
    ratio: float | None = None
    """Against side 0, with its interval, as the comparison of the two has it; None for side 0 itself."""
    ratio_low: float | None = None
    ratio_high: float | None = None
    verdict: Verdict | None = None
    reason: str = ""


@dataclass(frozen=True)
class Ranking:
    """One metric of one entry over all sides that have it: best first, or as given where nothing says what is best."""

    entry: str
    metric: str
    unit: str | None
    better: Better | None
    standings: tuple[Standing, ...]

    @property
    def decided(self) -> bool:
        """Whether any side differs from the first, beyond doubt."""
        return any(one.verdict in (Verdict.REGRESSED, Verdict.IMPROVED) for one in self.standings)

    @property
    def spread(self) -> float:
        """Largest value over the smallest, 1 where that says nothing."""
        values = [one.value for one in self.standings]
        return max(values) / min(values) if min(values) > 0 else 1.0

    def to_json(self, names: Sequence[str]) -> dict[str, Any]:
        standings = [
            {**asdict(one), "side": names[one.side], "verdict": str(one.verdict) if one.verdict else None}
            for one in self.standings
        ]
        return {**asdict(self), "standings": standings}


@dataclass(frozen=True)
class Ranked:
    """Several sides, the first of which the others are held against."""

    names: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    """Comparisons of the first side with each of the others, in their order."""
    rankings: tuple[Ranking, ...]

    @property
    def answer(self) -> str:
        """One sentence a side."""
        told = zip(self.names[1:], self.comparisons, strict=True)
        return "; ".join(f"{name}: {one.answer}" for name, one in told)

    def exit_code(self, *, strict: bool = False) -> int:
        """1 if any side failed; otherwise 3 if any regressed; otherwise 4 if that cannot be told of any, and it
        matters; otherwise 0."""
        codes = {one.exit_code(strict=strict) for one in self.comparisons}
        return next((code for code in (1, 3, 4) if code in codes), 0)

    @property
    def warning(self) -> str:
        """Why a side can't be told from the first, for each such side."""
        told = zip(self.names[1:], self.comparisons, strict=True)
        return "; ".join(f"{name}: {one.warning}" for name, one in told if one.warning)

    def to_json(self, *, strict: bool = False) -> dict[str, Any]:
        return {
            "sides": list(self.names),
            "exit_code": self.exit_code(strict=strict),
            "comparisons": [one.to_json(strict=strict) for one in self.comparisons],
            "rankings": [one.to_json(self.names) for one in self.rankings],
        }


def rankings(sides: Sequence[Sequence[Record]], comparisons: Sequence[Comparison]) -> list[Ranking]:
    """`comparisons`: of side 0 with each of the others, in their order. What was told apart first, then what differs
    most; what Assay measures of every program last."""
    measured = [_by_metric(side) for side in sides]
    judged = [{(row.entry, row.metric): row for row in one.rows} for one in comparisons]
    found = []
    for key in dict.fromkeys(key for side in measured for key in side):
        there = [(at, side[key]) for at, side in enumerate(measured) if key in side]
        rows = [one[key] for one in judged if key in one]
        if len(there) > 1 and (rows or not is_task_metric(key[1])):
            found.append(_ranking(key, there, judged, rows))
    return sorted(found, key=lambda one: (one.metric in OWN, not one.decided, -one.spread, one.entry, one.metric))


def _by_metric(side: Iterable[Record]) -> dict[tuple[str, str], list[Metric]]:
    found: dict[tuple[str, str], list[Metric]] = {}
    for run in side:
        if run.counts and run.outcome in MEASURED:
            for metric in run.metrics.values():
                if metric.number is not None and isfinite(metric.number):
                    found.setdefault((run.name, metric.name), []).append(metric)
    return found


def _ranking(
    key: tuple[str, str],
    there: Sequence[tuple[int, list[Metric]]],
    judged: Sequence[dict[tuple[str, str], Row]],
    rows: Sequence[Row],
) -> Ranking:
    metrics = [metric for _, side in there for metric in side]
    unit = next((metric.unit for metric in metrics if metric.unit), None)
    declared = next((metric.better for metric in metrics if metric.better), None)
    exact = all(metric.exact for metric in metrics)
    better = next((row.better for row in rows if row.better), None) or direction(key[1], unit, declared, exact=exact)
    standings = [_standing(at, side, judged[at - 1].get(key) if at else None) for at, side in there]
    if better is not None:
        standings.sort(key=lambda one: -one.value if better == "higher" else one.value)
    return Ranking(*key, unit, better, tuple(standings))


def _standing(at: int, side: Sequence[Metric], row: Row | None) -> Standing:
    values = [float(metric.number) for metric in side if metric.number is not None]
    interval = median_interval(values)
    low, high = (interval.low, interval.high) if interval else (min(values), max(values))
    known = len(values) > 1
    standing = Standing(at, median(values), low if known else None, high if known else None, len(values))
    if row is None:
        return standing
    return Standing(
        at, standing.value, standing.low, standing.high, standing.runs, row.ratio, row.low, row.high, row.verdict,
        row.reason,
    )  # fmt: skip


def pareto(places: Sequence[tuple[float, float]], better: tuple[Better | None, Better | None]) -> list[int]:
    """Which of the places no other beats in one respect without being worse in the other."""
    signs = [-1.0 if one == "higher" else 1.0 for one in better]
    costs = [(x * signs[0], y * signs[1]) for x, y in places]
    return [at for at, (x, y) in enumerate(costs) if not any(a <= x and b <= y and (a < x or b < y) for a, b in costs)]


# Which of several entries that ran in turn is the fastest, and by how much the others are slower.
#
# All pairs are judged in one table, so that the correction for many questions covers the choice of the fastest too;
# what
# is shown of it are the pairs that the fastest is part of. The runs of a round stood beside each other in random
# order:
# they are compared as pairs.

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
