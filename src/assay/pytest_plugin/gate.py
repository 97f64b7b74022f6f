"""The gate: does a test do worse than in the sessions before?

One level per session is compared with the levels of up to twenty earlier sessions, so that what counts is how much
sessions of the same code differ, never how much the rounds of one run do. Sessions that the gate failed are no
baseline: a regression stays red until it is fixed or accepted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp, expm1, hypot, isfinite, log, log1p, sqrt
from typing import Literal

import numpy as np

from assay.analysis.comparison import MEASURED, OWN, Comparison, Row, Verdict, verdict_of
from assay.analysis.evidence import ENOUGH
from assay.analysis.rules import direction
from assay.history import History
from assay.record import Record
from assay.record.metric import Better, Metric
from assay.report.quantity import quantity
from assay.stats.intervals import Floats, normal_quantile, t_quantile
from assay.stats.robust import middle
from assay.stats.shift import ASSUMED_LEVEL, LEVEL_ALARMS, Shift, adjust, level_shift

BASELINE = 20
"""Sessions that the baseline has at most, the newest."""
FEWEST = 3
"""Sessions that it has at least: two don't tell how much sessions differ."""
_MOST_SESSIONS = 100
"""More than this many sessions are no advice."""

Result = Literal["failed", "cannot tell", "no baseline", "passed"]
GRAVEST_FIRST: tuple[Result, ...] = ("failed", "cannot tell", "no baseline", "passed")
_OF_VERDICT: dict[Verdict, Result] = {
    Verdict.REGRESSED: "failed",
    Verdict.INCONCLUSIVE: "cannot tell",
    Verdict.NOT_COMPARABLE: "no baseline",
    Verdict.EQUIVALENT: "passed",
    Verdict.IMPROVED: "passed",
}


@dataclass(frozen=True)
class Gated:
    """One metric of one test, judged."""

    test: str
    metric: str
    result: Result
    reason: str


@dataclass(frozen=True)
class _Compared:
    """A metric whose sessions are known: it waits for the p-values of all others."""

    test: str
    metric: Metric
    better: Better
    past: Floats
    """Logarithms, one level a session."""
    head: Floats
    shift: Shift


def judge_session(
    records: Sequence[Record], comparison: Comparison | None, history: History, limit: float
) -> list[Gated]:
    """Judges each metric that has a direction, and each exact one. `comparison`: of these records with the last
    comparable ones; it decides where the sessions are too few, and for what is exact."""
    counted = [record for record in records if record.counts]
    by_test: dict[str, list[Record]] = {}
    for record in counted:
        if record.outcome in MEASURED:
            by_test.setdefault(record.name, []).append(record)
    before = min((record.started_at for record in counted), default="")
    rows = {(row.entry, row.metric): row for row in comparison.rows} if comparison else {}
    drafts = [draft for runs in by_test.values() for draft in _drafts(runs, rows, history, before)]
    compared = [draft for draft in drafts if isinstance(draft, _Compared)]
    p_values = dict(zip(map(id, compared), adjust([one.shift.p for one in compared]), strict=True))
    return [_judge(one, p_values[id(one)], limit) if isinstance(one, _Compared) else one for one in drafts]


def _drafts(
    runs: Sequence[Record], rows: dict[tuple[str, str], Row], history: History, before: str
) -> Iterator[Gated | _Compared]:
    test, key = runs[-1].name, runs[-1].fingerprint.key
    missed = {run.run_id for run in history.runs(fingerprint=key, outcome="missed", limit=1000)}
    for name, metric in runs[-1].metrics.items():
        better = direction(name, metric.unit, metric.better, exact=metric.exact)
        if name in OWN or (better is None and not metric.exact):
            continue
        row = rows.get((test, name))
        head = _logarithms([run.metrics[name].number for run in runs if name in run.metrics])
        if metric.exact or better is None or head is None:
            yield _of_row(test, name, row)
            continue
        past = _past(history, key, name, before, missed)
        if past.size < FEWEST:
            yield _with_few(test, name, row, int(past.size))
            continue
        yield _Compared(test, metric, better, past, head, _shift(past, head))


def _past(history: History, fingerprint: str, metric: str, before: str, missed: set[str]) -> Floats:
    """Logarithm of one level a session, oldest first."""
    series = history.series_id(fingerprint, metric)
    sessions: dict[str, list[float]] = {}
    for point in history.points(series, before=before) if series is not None else ():
        if point.run_id not in missed and isfinite(point.value) and point.value > 0:
            sessions.setdefault(point.session, []).append(log(point.value))
    return np.array([middle(np.array(levels)) for levels in sessions.values()][-BASELINE:])


def _logarithms(values: Sequence[float | None]) -> Floats | None:
    """None unless all are positive numbers."""
    found = [value for value in values if value is not None and isfinite(value) and value > 0]
    return np.log(found) if found and len(found) == len(values) else None


def _shift(past: Floats, head: Floats) -> Shift:
    shift = level_shift(past, head)
    if past.size >= ENOUGH:
        return shift
    # Few sessions were often measured within one hour: how a machine differs from day to day is not in them.
    assumed = sqrt(2) * normal_quantile(1 - LEVEL_ALARMS / 2) * ASSUMED_LEVEL
    return replace(shift, floor=hypot(shift.floor, assumed))


def _of_row(test: str, metric: str, row: Row | None) -> Gated:
    if row is None:
        return Gated(test, metric, "no baseline", "first session")
    return Gated(test, metric, _OF_VERDICT[row.verdict], f"{metric} {row.reason}")


def _with_few(test: str, metric: str, row: Row | None, sessions: int) -> Gated:
    if row is None or sessions == 0:
        return Gated(test, metric, "no baseline", "first session")
    if row.conclusive:
        return _of_row(test, metric, row)
    more = FEWEST - sessions
    return Gated(test, metric, "cannot tell", f"{metric} needs {_sessions(more)} more as a baseline")


def _judge(one: _Compared, p: float, limit: float) -> Gated:
    verdict, _ = verdict_of(one.shift, one.better, limit, p)
    reach = log1p(limit)
    worst = one.shift.high if one.better == "lower" else -one.shift.low
    result = "passed" if verdict is Verdict.INCONCLUSIVE and worst <= reach else _OF_VERDICT[verdict]
    value, level = (quantity(exp(at), one.metric.unit) for at in (middle(one.head), float(one.past.mean())))
    by = expm1(one.shift.estimate)
    where = f"{abs(by):.0%} {'above' if by > 0 else 'below'} the baseline of {level}"
    noise = f"limit {limit * 100:.3g}%, noise ±{expm1(_half(one.shift)) * 100:.2g}%, {_sessions(one.past.size)}"
    reason = f"{one.metric.name} {value} is {where} ({noise})"
    return Gated(one.test, one.metric.name, result, reason + (_advice(one, reach) if result == "cannot tell" else ""))


def _half(shift: Shift) -> float:
    return (shift.high - shift.low) / 2


def _advice(one: _Compared, reach: float) -> str:
    """What would make the noise less than the limit."""
    spread = float(one.past.std(ddof=1))
    for sessions in range(one.past.size + 1, _MOST_SESSIONS):
        if t_quantile(1 - LEVEL_ALARMS / 2, sessions - 1) * spread * sqrt(1 + 1 / sessions) <= reach:
            return f"; {_sessions(sessions - one.past.size)} more would tell"
    return "; too noisy for this limit: set a higher one, or give the test more time with --assay-max-time"


def _sessions(count: int) -> str:
    return "1 session" if count == 1 else f"{count} sessions"


def worst_by_test(gated: Sequence[Gated]) -> dict[str, Gated]:
    """The gravest result of each test."""
    worst: dict[str, Gated] = {}
    for one in gated:
        known = worst.get(one.test)
        if known is None or GRAVEST_FIRST.index(one.result) < GRAVEST_FIRST.index(known.result):
            worst[one.test] = one
    return worst


SHOWN = 5
"""Tests that are named of each result but failures, which are all named."""


def gate_lines(gated: Sequence[Gated], limit: float) -> list[str]:
    """What the gate says: the answer first, then each test that failed, and what could not be judged."""
    worst = worst_by_test(gated)
    of = {result: [one for one in worst.values() if one.result == result] for result in GRAVEST_FIRST}
    failed, unsure, new, passed = (of[result] for result in GRAVEST_FIRST)
    within = f"{limit * 100:.3g}%"
    if not worst:
        return ["gate: nothing was measured that can be judged"]
    lines = [f"gate: {_tests(failed)} regressed"] if failed else []
    lines += [f"  {one.test}: {one.reason}" for one in failed]
    if passed:
        lines.append(f"gate: {'' if failed else 'passed, '}{_tests(passed)} within {within} of the baseline")
    if unsure:
        lines.append(f"gate: cannot tell for {_tests(unsure)} (not a failure)")
        lines += [f"  {one.test}: {one.reason}" for one in unsure[:SHOWN]]
    if new:
        lines.append(f"gate: nothing to compare with yet for {_tests(new)} (not a failure)")
    return lines


def _tests(found: Sequence[Gated]) -> str:
    return "1 test" if len(found) == 1 else f"{len(found)} tests"
