"""Gates of a session: its level against the level of earlier sessions, by the comparison that `assay compare` makes.

A single run is never judged. A gate fails where the whole interval lies beyond the limit, passes where none of it does,
and otherwise cannot tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import exp, inf, isfinite, log, log1p, sqrt
from pathlib import Path
from statistics import median

import numpy as np

from assay.analysis.compare_records import compare
from assay.analysis.comparison import MEASURED, Row, Verdict
from assay.analysis.evidence import ENOUGH, FEWEST, median_interval
from assay.analysis.rules import MetricRule, Rules
from assay.analysis.sentences.metric_words import BEFORE_AND_NOW, MetricWords, share
from assay.analysis.verdict import GateResult, Result, read_verdict
from assay.errors import AssayError
from assay.history import History, find_session
from assay.record import Record, RequirementResult
from assay.stats.intervals import Floats
from assay.stats.shift import ASSUMED_LEVEL

RECENT = 10
"""Sessions that make a baseline."""
_LOOKED_AT = 40
"""Sessions among which those are looked for: one that missed a gate is no baseline."""
_SURE = 2.576
"""Standard deviations that a change must be beyond where nothing but experience says how much runs differ."""
_ASSUMED_RUN = {"cpu": 0.08, "memory": 0.08}
_ASSUMED_OTHER = 0.25
"""Standard deviation of a single run where there are too few to measure it: CPU time and memory, and all else."""
_LABELS = {"exec_time_s": "Time", "usage.cpu_s": "CPU time", "usage.peak_rss_mb": "Peak memory"}


def judge_gates(records: Sequence[Record], history: History, rules: Rules) -> tuple[GateResult, ...]:
    """Every requirement with a baseline and every exact metric of a session, the missed ones first."""
    found: list[GateResult] = []
    for name in dict.fromkeys(record.name for record in records if record.counts):
        runs = [record for record in records if record.name == name and record.counts]
        head = [record for record in runs if record.outcome in MEASURED]
        if head:
            found += _entry(head, history, rules)
    return tuple(sorted(found, key=lambda gate: (_ORDER.index(gate.result), gate.limit is not None)))


_ORDER: tuple[Result, ...] = ("fail", "regressed", "cannot tell", "nothing to compare with", "pass")


def _entry(head: list[Record], history: History, rules: Rules) -> list[GateResult]:
    required = [result for result in head[-1].requirements if result.max_regression is not None]
    name = head[0].name
    gates = _changed_exactly(head, history, rules)
    told = {gate.metric for gate in gates}
    for one in required:
        if one.metric in told:
            continue
        sessions = _baseline(head, history, one.metric, one.baseline)
        if not sessions:
            gone = f"session {one.baseline} is not there"
            gates.append(_nothing(name, one, gone if sessions is None else "no earlier session is comparable"))
            continue
        limit = one.max_regression or 0.0
        declared = {**rules.declared, (name, one.metric): MetricRule(margin=limit)}
        # The newest session is the base, and ten before it say how much sessions differ.
        enough = len(sessions) > ENOUGH
        base = list(sessions[0]) if enough else [run for runs in sessions[:RECENT] for run in runs]
        past = BaselinePast(sessions) if enough else None
        table = compare(base, head, rules=replace(rules, declared=declared), past=past, sides=BEFORE_AND_NOW)
        row = next((row for row in table.rows if row.metric == one.metric), None)
        gates.append(_judged(one, row, base, head, min(len(sessions), _LOOKED_AT if enough else RECENT), rules))
    return gates


def _changed_exactly(head: list[Record], history: History, rules: Rules) -> list[GateResult]:
    """Exact metrics that are not what they were, each against the newest session of its own baseline."""
    sessions = _baseline(head, history, None)
    if not sessions:
        return []
    first = compare(sessions[0], head, rules=rules, sides=BEFORE_AND_NOW)
    found = []
    for metric in [row.metric for row in first.regressed if row.design == "exact"]:
        own = _baseline(head, history, metric) or sessions  # it may have been accepted by itself
        rows = compare(own[0], head, rules=rules, sides=BEFORE_AND_NOW).regressed
        found += [_exact(row, len(own)) for row in rows if row.metric == metric and row.design == "exact"]
    return found


def _baseline(
    head: list[Record], history: History, metric: str | None, named: str | None = None
) -> list[tuple[Record, ...]] | None:
    """Sessions, the newest first, without those that missed the gate unless their level was accepted; None where one
    that was named is not there."""
    folder = history.path.parent
    if named is not None:
        try:
            records = find_session(named, folder).records()
        except AssayError:
            return None
        runs = tuple(run for run in records if run.counts and run.success and run.fingerprint == head[0].fingerprint)
        return [runs] if runs else []
    own = head[0]
    before = min(record.started_at for record in head)
    return _without_missed(own, history, history.baseline(own.fingerprint, before, metric=metric, limit=_LOOKED_AT))


def last_that_passed(run: Record, history: History, before: str) -> tuple[Record, ...]:
    """Return the runs of the newest session before `before` that `run` is compared with: one that didn't miss a gate,
    if there is one."""
    for limit in (1, 4, _LOOKED_AT):
        found = history.baseline(run.fingerprint, before, limit=limit)
        if good := _without_missed(run, history, found):
            return good[0]
        if len(found) < limit:
            break
    return history.last_comparable(run.fingerprint, before)


def _without_missed(own: Record, history: History, found: Sequence[tuple[Record, ...]]) -> list[tuple[Record, ...]]:
    accepted = {one.session for one in history.accepted(own.fingerprint.key)}
    folder = history.path.parent
    return [
        runs
        for runs in found
        if runs[0].session != own.session
        and (runs[0].session in accepted or not _missed(folder / runs[0].session, own.name))
    ]


class BaselinePast:
    """What the sessions of a baseline say about how much its level moves. Sessions that missed the gate are not among
    them: otherwise a regression would become the usual level after a few nights."""

    def __init__(self, newest_first: Sequence[tuple[Record, ...]]) -> None:
        self._sessions = tuple(reversed(newest_first))

    def levels(self, entry: str, fingerprint: str, metric: str) -> Floats:
        levels = ([log(value) for value in values if value > 0] for values in self._numbers(metric))
        return np.array([median(level) for level in levels if level], dtype=np.float64)

    def values(self, entry: str, fingerprint: str, metric: str) -> Floats:
        return np.array([median(values) for values in self._numbers(metric) if values], dtype=np.float64)

    def runs(self, fingerprint: str) -> Sequence[Record]:
        return [run for runs in self._sessions for run in runs]

    def _numbers(self, metric: str) -> Iterator[list[float]]:
        for runs in self._sessions:
            measured = [run.metrics for run in runs]
            found = [metrics[metric].number for metrics in measured if metric in metrics]
            yield [number for number in found if number is not None and isfinite(number)]


def _missed(session: Path, entry: str) -> bool:
    verdict = read_verdict(session)
    return verdict is not None and any(gate.result == "fail" for gate in verdict.of_entry(entry))


def _nothing(entry: str, one: RequirementResult, why: str) -> GateResult:
    headline = f"{why}; choose another `baseline:`" if one.baseline else f"{why}; this session becomes the baseline"
    return GateResult(
        entry, one.metric, "nothing to compare with", headline, one.expected, one.max_regression, one.actual, reason=why
    )


def _exact(row: Row, sessions: int) -> GateResult:
    return GateResult(
        row.entry, row.metric, "fail", row.reason, "unchanged (an exact metric)", None, row.head, row.unit, row.before,
        row.ratio, sessions=sessions, next="assay ab",
    )  # fmt: skip


def _judged(
    one: RequirementResult, row: Row | None, base: Sequence[Record], head: Sequence[Record], sessions: int, rules: Rules
) -> GateResult:
    limit = one.max_regression or 0.0
    if row is None or (row.verdict is Verdict.NOT_COMPARABLE and row.head is None):
        why = row.reason if row is not None else "it was not compared"
        return _nothing(head[0].name, one, why)
    sign = -1.0 if row.better == "higher" else 1.0
    reach = log1p(limit) if sign > 0 else -log1p(-limit) if limit < 1 else inf
    ends = _ends(one.metric, row, base, head, sign, rules)
    result: Result = "cannot tell"
    if ends is None:
        result = {Verdict.REGRESSED: "fail", Verdict.INCONCLUSIVE: "cannot tell"}.get(row.verdict, "pass")  # type: ignore[assignment]
    elif ends[0] > reach and (row.verdict is Verdict.REGRESSED or row.design == "none"):
        result = "fail"
    elif ends[1] <= reach:
        result = "pass"
    gate = GateResult(
        head[0].name, one.metric, result, "", one.expected, limit, row.head, row.unit, row.before, row.ratio,
        None if ends is None else exp(min(sign * end for end in ends)),
        None if ends is None else exp(max(sign * end for end in ends)),
        sessions, row.reason if result == "cannot tell" else "", "" if result == "pass" else "assay ab",
    )  # fmt: skip
    return replace(gate, headline=_sentence(gate, row))


def _ends(
    metric: str, row: Row, base: Sequence[Record], head: Sequence[Record], sign: float, rules: Rules
) -> tuple[float, float] | None:
    """How much worse at least and at most, as logarithms. None where there is no ratio."""
    if not row.ratio or row.ratio <= 0:
        return None
    worse = sign * log(row.ratio)
    before, now = ([run.metrics[metric].number for run in side if metric in run.metrics] for side in (base, head))
    known = [[log(v) for v in side if v is not None and v > 0] for side in (before, now)]
    if not all(known):
        return None
    if row.low and row.high:
        low, high = sorted((sign * log(row.low), sign * log(row.high)))
        if row.design == "history" and len(known[1]) >= FEWEST:
            # Levels that hardly move say nothing of a session whose runs are slow now and then: its own noise counts.
            ranks = median_interval(known[1])
            nearest = min(sign * v for v in (known[1] if ranks is None else (ranks.low, ranks.high)))
            return min(low, worse + nearest - sign * float(np.median(known[1]))), high
        # Runs of which each is beyond the limit need no interval of a mean, which one hiccup makes wide.
        apart = min(sign * v for v in known[1]) - max(sign * v for v in known[0])
        return (max(low, min(apart, worse)), high) if len(known[1]) >= FEWEST else (low, high)
    assumed = _ASSUMED_RUN.get(row.words.kind, _ASSUMED_OTHER)
    spread = max([assumed, *(float(np.std(side, ddof=1)) for side in known if len(side) > 1)])
    floor = log1p(rules.floors.get((head[0].fingerprint.key, metric), 0.0))
    between = max(ASSUMED_LEVEL * sqrt(2), floor / _SURE)
    half = _SURE * sqrt(spread**2 * sum(1 / len(side) for side in known) + between**2)
    return worse - half, worse + half


def _sentence(gate: GateResult, row: Row) -> str:
    words = MetricWords.of(gate.metric, gate.unit, row.better)
    label = _LABELS.get(gate.metric, gate.metric)
    if gate.ratio is None or gate.value is None or gate.baseline is None:
        return f"{label}: {row.reason} (limit {share(gate.limit or 0.0)})"
    change = gate.ratio - 1
    side = "above" if change > 0 else "below"
    away = f"{share(round(change, 3))} {side}" if abs(change) >= 0.0005 else "at"
    # The interval as a share of the baseline; on a logarithmic scale both sides differ a little.
    apart = [abs(end - gate.ratio) for end in (gate.low, gate.high) if end is not None]
    unsure = "" if not apart or max(apart) > 10 else f", ±{share(float(f'{max(apart):.2g}'))}"
    of = "the baseline of" if away != "at" else "the baseline,"
    value, baseline = gate.value, gate.baseline
    if gate.unit == "s" and max(value, baseline) < 1:
        words, value, baseline = replace(words, unit="ms"), value * 1000, baseline * 1000
    said = (
        f"{label} {words.value(float(f'{value:.3g}'))} is {away} {of} {words.value(float(f'{baseline:.3g}'))} "
        f"(limit {share(gate.limit or 0.0)}{unsure})"
    )
    if gate.result == "fail":
        return f"{said}. Run `assay ab` to confirm."
    return f"{said}. Run `assay ab` to settle it." if gate.result == "cannot tell" else f"{said}."
