"""Two sides of records in, a table of verdicts out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, expm1, isclose, isfinite
from pathlib import Path
from typing import Any

import numpy as np

from assay.analysis.comparison import MEASURED, Comparison, Row, Verdict, failure
from assay.analysis.conditions import load_effect, unequal_conditions
from assay.analysis.difference_judgement import is_signed_night, judge_signed, judge_signed_night
from assay.analysis.evidence import Evidence, HistoryPast, NoPast, Past, Runs, Sample, evidence, fewest, sample
from assay.analysis.judgement import apply_canaries, is_declared_exact, judge_evidence, judge_exact, values, varying
from assay.analysis.rules import MetricRule, Rules, direction, load_floors, margins
from assay.analysis.sentences import value_sentences as said
from assay.analysis.sentences.metric_words import A_AND_B, SideNames
from assay.analysis.sentences.note_sentences import not_exact
from assay.analysis.sentences.verdict_sentences import few_runs
from assay.history import History, reasons_against
from assay.history.history import FILE_NAME
from assay.record import Record
from assay.record.metric import Better, Metric
from assay.record.task import is_task_metric
from assay.stats.robust import middle
from assay.stats.shift import adjust, count_among

_LARGEST = 700.0
"""Logarithm of a ratio that can still be written down."""


@dataclass(frozen=True)
class _Draft:
    """A row that waits for the p-values of all the others."""

    row: Row
    evidence: Evidence | None = None


def compare(
    base: Iterable[Record],
    head: Iterable[Record],
    *,
    names: tuple[str, str] = ("base", "head"),
    rules: Rules | None = None,
    past: Past | None = None,
    paired: bool = False,
    looks: int = 1,
    across: bool = False,
    sides: SideNames = A_AND_B,
) -> Comparison:
    """Compares two sides of records, metric by metric.

    `paired`: the runs of both sides alternated, the i-th of one beside the i-th of the other (`assay ab` does so).
    `looks`: how often the same experiment is judged. `across`: compare in spite of different parameters, program or
    machine; the differences become notes. `sides`: what the two are called in sentences.
    """
    table = _Table(rules or Rules(), past or NoPast(), paired, looks, across, sides)
    runs = _by_entry(base), _by_entry(head)
    drafts = [
        draft
        for entry in dict.fromkeys([*runs[1], *runs[0]])
        for draft in table.entry(entry, runs[0].get(entry, []), runs[1].get(entry, []))
    ]
    failures = [
        found
        for entry in dict.fromkeys([*runs[1], *runs[0]])
        for which, side in zip(("base", "head"), runs, strict=True)
        for found in failure(which, entry, side.get(entry, []))
    ]
    canaries = {entry for entry, measured in runs[1].items() if any(run.canary for run in measured)}
    rows, notes = apply_canaries(_judge(drafts), canaries)
    return Comparison(*names, rows, notes, failures=tuple(failures))


def _by_entry(records: Iterable[Record]) -> dict[str, list[Record]]:
    entries: dict[str, list[Record]] = {}
    for record in records:
        if record.counts:
            entries.setdefault(record.name, []).append(record)
    return entries


def _judge(drafts: Sequence[_Draft]) -> Iterable[Row]:
    """Rows with their verdicts. Only rows that could get one count in the correction for many questions."""
    asked = [draft for draft in drafts if draft.evidence and not draft.evidence.settled and draft.row.better]
    shifts = [draft.evidence.shift for draft in asked if draft.evidence]
    p_values = adjust([count_among(shift.p, shift.spikes, len(shifts)) for shift in shifts])
    corrected = dict(zip(map(id, asked), p_values, strict=True))
    for draft in drafts:
        row = draft.row
        if draft.evidence is None:
            yield row
            continue
        shift = draft.evidence.shift
        p = corrected.get(id(draft), shift.p)
        verdict, reason = judge_evidence(draft.evidence, row.better, row.margin, p, row.words)
        notes = () if verdict is Verdict.EQUIVALENT else row.notes
        yield replace(row, verdict=verdict, reason=reason, adjusted_p=p, notes=notes)


class _Table:
    def __init__(self, rules: Rules, past: Past, paired: bool, looks: int, across: bool, sides: SideNames) -> None:
        self._rules, self._past, self._paired, self._looks, self._across = rules, past, paired, looks, across
        self._sides = sides

    def entry(self, name: str, base: list[Record], head: list[Record]) -> Iterable[_Draft]:
        reasons, notes = self._against(base, head)
        if reasons:
            yield _Draft(Row(name, "", Verdict.NOT_COMPARABLE, "; ".join(reasons)))
            return
        base, head = _keep_measured(base), _keep_measured(head)
        notes += unequal_conditions(base, head, self._sides)
        sides = [run.metrics for run in base], [run.metrics for run in head]
        key = head[0].fingerprint.key
        measured = dict.fromkeys(name for side in sides[::-1] for run in side for name in run)
        compared = [metric for metric in measured if metric not in head[-1].unjudged]
        if measured and not compared:
            yield _Draft(Row(name, "", Verdict.NOT_COMPARABLE, said.nothing_judged()))
        for metric in compared:
            found = [run[metric] for side in sides for run in side if metric in run]
            if is_task_metric(metric) and not self._is_asked_for(head[0], metric, found):
                continue
            if any(item.number is not None or item.exact for item in found):
                draft = self._metric(head[0], key, metric, *sides, tuple(notes))
                yield self._with_load(draft, base, head, key)

    def _with_load(self, draft: _Draft, base: list[Record], head: list[Record], fingerprint: str) -> _Draft:
        """The row with an interval as wide as a difference in outside load can explain. Runs of pairs shared it."""
        row, found = draft.row, draft.evidence
        if found is None or self._paired:
            return draft
        if found.design == "history" and found.changed:
            base = [*_keep_measured(list(self._past.runs(fingerprint))), *base]
        load = load_effect(base, head, row.metric, row.unit, row.better, self._sides)
        if load is None:
            return draft
        found = replace(found, load=load)
        shift = found.with_interval
        return _Draft(replace(row, low=_exp(shift.low), high=_exp(shift.high)), found)

    def _is_asked_for(self, run: Record, metric: str, found: Sequence[Metric]) -> bool:
        """Statistics of tasks are many: compared is what somebody declared something about, or requires."""
        rule = self._rules.of(run.name, metric)
        required = any(result.metric == metric for result in run.requirements)
        declared = any(item.better or item.exact or item.margin is not None for item in found)
        return bool(rule.better or rule.exact) or required or declared or metric in run.margins

    def _against(self, base: list[Record], head: list[Record]) -> tuple[list[str], list[str]]:
        for side, where, other in (
            (base, self._sides.base, self._sides.head),
            (head, self._sides.head, self._sides.base),
        ):
            if not side:
                return [said.only(other)], []
            if not _keep_measured(side):
                return [said.not_measured(where, side[-1].run_id, str(side[-1].outcome).replace("_", " "))], []
        first, second = _keep_measured(base)[0], _keep_measured(head)[0]
        differences = identity_differences(first, second)
        if self._across or not differences:
            return [], differences
        return [said.refusal(differences)], []

    def _metric(
        self, run: Record, fingerprint: str, metric: str, base: Runs, head: Runs, notes: tuple[str, ...]
    ) -> _Draft:
        if not any(metric in measured for measured in base):
            reason = said.only(self._sides.head)
            return _Draft(Row(run.name, metric, Verdict.NOT_COMPARABLE, reason, only_in="head"))
        if not any(metric in measured for measured in head):
            reason = said.only(self._sides.base)
            return _Draft(Row(run.name, metric, Verdict.NOT_COMPARABLE, reason, only_in="base"))
        rule = self._rules.of(run.name, metric)
        if is_declared_exact(base, head, metric) if rule.exact is None else rule.exact:
            row, varies = self._exact(run, metric, rule, base, head)
            if not varies:
                return _Draft(row)
            notes = (*notes, varies)
        return self._noisy(run, fingerprint, metric, rule, base, head, notes)

    def _exact(self, run: Record, metric: str, rule: MetricRule, base: Runs, head: Runs) -> tuple[Row, str]:
        """The row, and why it cannot be judged so: what varies between runs of one side is not exact."""
        before, after = values(base, metric), values(head, metric)
        for where, side in ((self._sides.base, before), (self._sides.head, after)):
            if seen := varying(side):
                return _row(run, metric, rule, base, head), not_exact(where, seen)
        margin = self._own_margin(run, metric, base, head)
        row = _row(run, metric, rule, base, head, exact=True)
        verdict, reason = judge_exact(before[0], after[0], row.better, margin, row.unit)
        if verdict is Verdict.IMPROVED and _declared_direction(metric, rule, base, head) is None:
            row = replace(row, better=None)
            verdict, reason = judge_exact(before[0], after[0], None, margin, row.unit)
        return replace(row, verdict=verdict, reason=reason, margin=margin or 0.0, design="exact"), ""

    def _own_margin(self, run: Record, metric: str, base: Runs, head: Runs) -> float | None:
        """What a person said for this very metric, otherwise what the program itself says."""
        said = self._rules.own_margin(run, metric)
        known = (one[metric].margin for side in (head, base) for one in side if metric in one)
        return next((margin for margin in known if margin is not None), None) if said is None else said

    def _noisy(
        self, run: Record, fingerprint: str, metric: str, rule: MetricRule, base: Runs, head: Runs,
        notes: tuple[str, ...],
    ) -> _Draft:  # fmt: skip
        before, after = sample(base, metric), sample(head, metric)
        row = replace(_row(run, metric, rule, base, head), notes=notes)
        if before is None or after is None:
            one = self._sides.base if before is None else self._sides.head
            reason = said.no_number("on either side" if before is after else one)
            return _Draft(replace(row, verdict=Verdict.NOT_COMPARABLE, reason=reason))
        declared = self._own_margin(run, metric, base, head)
        row = replace(row, margin=self._rules.margin(run, metric, fingerprint) if declared is None else declared)
        if _is_few(before, after, self._paired):
            row = replace(row, reason=self._few(before, after))
        if (night := self._judge_signed_night(row, before, after, fingerprint)) is not None:
            return _Draft(night)
        if (before.values <= 0).any() or (after.values <= 0).any():
            return _Draft(_without_ratio(row, before, after, self._paired))
        return self._draft_shift(row, before.values, after.values, fingerprint)

    def _judge_signed_night(self, row: Row, before: Sample, after: Sample, fingerprint: str) -> Row | None:
        if self._paired or not _is_few(before, after):
            return None
        past = self._past.values(row.entry, fingerprint, row.metric)
        if past.size and isclose(past[-1], before.middle, rel_tol=1e-12):
            past = past[:-1]
        if not is_signed_night(past, before.values, after.values):
            return None
        night = judge_signed_night(past, before.values, after.values, row.words, row.margin)
        notes = () if night.verdict is Verdict.EQUIVALENT else (*row.notes, *night.notes)
        return replace(
            row, verdict=night.verdict, reason=night.reason, base=night.level, ratio=night.ratio, design="history",
            notes=notes,
        )  # fmt: skip

    def _few(self, before: Sample, after: Sample) -> str:
        """How many runs there are, and how many more would tell."""
        samples = before.within + after.within
        return few_runs(
            (before.values.size, after.values.size), fewest(self._paired), self._sides, paired=self._paired,
            samples=samples,
        )  # fmt: skip

    def _draft_shift(self, row: Row, before: np.ndarray, after: np.ndarray, fingerprint: str) -> _Draft:
        past = np.empty(0) if self._paired else self._past.levels(row.entry, fingerprint, row.metric)
        if past.size and isclose(past[-1], middle(np.log(before)), abs_tol=1e-12):
            past = past[:-1]  # The base itself is the last session of the past.
        found = evidence(
            before, after, past, better=row.better, margin=row.margin, paired=self._paired, looks=self._looks,
            words=row.words, sides=self._sides,
        )  # fmt: skip
        if found is None:
            return _Draft(_too_few(row))
        shift = found.shift
        measured = replace(
            row, ratio=_exp(shift.estimate), low=_exp(shift.low), high=_exp(shift.high), confidence=shift.confidence,
            floor=expm1(shift.floor) if shift.floor < _LARGEST else 0.0, p=shift.p, design=found.design,
            notes=(*row.notes, *found.notes),
        )  # fmt: skip
        return _Draft(measured, found)


def _keep_measured(side: list[Record]) -> list[Record]:
    return [run for run in side if run.outcome in MEASURED]


def _exp(value: float) -> float | None:
    """None for what no float holds: a file may claim anything."""
    return exp(value) if isfinite(value) and value < _LARGEST else None


def _row(run: Record, metric: str, rule: MetricRule, base: Runs, head: Runs, *, exact: bool = False) -> Row:
    before, after = sample(base, metric), sample(head, metric)
    known = [one[metric] for side in (base, head) for one in side if metric in one][::-1]
    unit = rule.unit or next((item.unit for item in known if item.unit), None)
    declared = _declared_direction(metric, rule, base, head)
    row = Row(
        run.name, metric, Verdict.INCONCLUSIVE, "", unit=unit,
        better=direction(metric, unit, declared, exact=exact),
        base=before.middle if before else None, head=after.middle if after else None,
        base_runs=len(values(base, metric)) if exact else _size(before),
        head_runs=len(values(head, metric)) if exact else _size(after),
    )  # fmt: skip
    return replace(row, ratio=_ratio(row)) if exact else row


def _declared_direction(metric: str, rule: MetricRule, base: Runs, head: Runs) -> Better | None:
    known = (one[metric].better for side in (head, base) for one in reversed(side) if metric in one)
    return rule.better or next((better for better in known if better), None)


def _size(side: Sample | None) -> int:
    return side.values.size if side else 0


def _ratio(row: Row) -> float | None:
    return row.head / row.base if row.base and row.head and row.base > 0 and row.head > 0 else None


def _is_few(before: Sample, after: Sample, paired: bool = False) -> bool:
    return min(before.values.size, after.values.size) < fewest(paired)


def _too_few(row: Row) -> Row:
    """The row with its ratio, and with the reason that its draft gave: too few runs for a verdict."""
    return replace(row, ratio=_ratio(row))


def _without_ratio(row: Row, before: Sample, after: Sample, paired: bool) -> Row:
    if _is_few(before, after, paired):
        return _too_few(row)
    verdict, reason = judge_signed(before.values, after.values, row.words, row.margin, paired)
    return replace(row, verdict=verdict, reason=reason)


def identity_differences(base: Record, head: Record) -> list[str]:
    """Why they are not comparable: in words, since a digest says only that something differs."""
    reasons = reasons_against(base, head)
    ours, theirs = base.fingerprint, head.fingerprint
    parts = [
        part for part in ("project", "entry", "workload", "machine") if getattr(ours, part) != getattr(theirs, part)
    ]
    said_of = [said.other_part(part, getattr(ours, part), getattr(theirs, part)) for part in parts]
    if ours.params != theirs.params:
        said_of.insert(0, said.other_parameters(_list_changed_parameters(base.script_params, head.script_params)))
    return said_of if reasons and said_of else list(reasons)


def _list_changed_parameters(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    changed = [
        f"{key} {ours.get(key, 'not given')} → {theirs.get(key, 'not given')}"
        for key in dict.fromkeys([*ours, *theirs])
        if ours.get(key) != theirs.get(key)
    ]
    return ", ".join(changed[:4])


def compare_sessions(
    base: Iterable[Record],
    head: Iterable[Record],
    results_dir: Path,
    *,
    names: tuple[str, str],
    rules: Rules | None = None,
    **options: Any,
) -> Comparison:
    """Two sides with all that the results folder knows of them: its noise floors and its history.

    Whoever compares two sessions asks here (command line, Python, report, dashboard), so that all say the same.
    `options` are those of `compare`.
    """
    base, head = list(base), list(head)
    asked = {"names": names, "rules": rules or rules_for(results_dir), **options}
    if not head or not (results_dir / FILE_NAME).is_file():
        return compare(base, head, **asked)
    with History.beside(results_dir, read_only=True) as history:
        # The past of the older side. Sessions between the two may be at another level than the base, and would have the
        # head held against that.
        past = HistoryPast(history, min(record.started_at for record in [*base, *head]))
        return compare(base, head, **{"past": past, **asked})


def rules_for(results_dir: Path, margin: Sequence[str] = ()) -> Rules:
    """Margins as they are written on the command line; where none is given, the noise floors of the folder."""
    return Rules(floors=margins(load_floors(results_dir))).with_margins(list(margin))
