"""Metrics that are counted, not timed (rows, bytes, ratios of sizes, accuracy, digests): no statistics are needed.

The same code gives the same value, so one run a side is enough, any change is a change, and there is no margin unless
somebody declared one for this very metric. A change is a regression unless somebody declared a direction and it moved
that way: a name such as `ratio` may say what is worse, but a count that grew by itself is no improvement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import exp, fsum, inf, isfinite, isnan
from statistics import median
from typing import Any

import numpy as np

from assay.analysis.comparison import Comparison, Row, Verdict, verdict_of
from assay.analysis.difference_judgement import is_signed_night, judge_signed, judge_signed_night
from assay.analysis.evidence import Evidence, Runs, evidence, interval, unless_slow
from assay.analysis.read_results import first_not_finite, plain_numbers, plain_values
from assay.analysis.rules import DEFAULT_MARGIN
from assay.analysis.sentences import value_sentences as said
from assay.analysis.sentences.metric_words import BASE_AND_HEAD, MetricWords
from assay.analysis.sentences.note_sentences import machine_moved
from assay.analysis.sentences.value_sentences import not_exact_values
from assay.analysis.sentences.verdict_sentences import few_values, load_explains, load_hides
from assay.errors import UsageError
from assay.files.json_text import encode
from assay.record import Record
from assay.record.metric import Better, as_float
from assay.stats.intervals import Floats
from assay.stats.robust import middle
from assay.stats.shift import looks, plan_repeats
from assay.stats.warmup import find_warmup

__all__ = ["looks", "open_entries"]


MOST_SHOWN = 80
"""Characters of a value that a reason shows."""


def values(runs: Runs, metric: str) -> list[Any]:
    return [run[metric].value for run in runs if metric in run]


def is_declared_exact(base: Runs, head: Runs, metric: str) -> bool:
    """Whether either side declares it exact. One is enough: an older record may be from before it was declared."""
    return any(run[metric].exact for side in (head, base) for run in side if metric in run)


def varying(found: Sequence[Any]) -> str:
    """What a side says that should be one value, or nothing if it is one."""
    differing = {_key(value): value for value in found}
    return " and ".join(format_fully(value) for value in list(differing.values())[:2]) if len(differing) > 1 else ""


def judge_exact(
    before: Any, after: Any, better: Better | None, margin: float | None, unit: str | None = None
) -> tuple[Verdict, str]:
    if _key(before) == _key(after):
        return Verdict.EQUIVALENT, said.exactly_same(format_fully(before))
    became = f"{format_fully(before)} → {format_fully(after)}"
    if not _is_number(before) or not _is_number(after):
        return Verdict.REGRESSED, said.change_without_order(became)
    became += f" {unit}" if unit and not isinstance(after, bool) else ""
    first, second = as_float(before), as_float(after)
    if margin is not None and abs(second - first) <= margin * abs(first):
        return Verdict.EQUIVALENT, said.within_margin(became, margin)
    if before == after:
        return Verdict.REGRESSED, said.change_without_order(became)
    if better is None:
        return Verdict.REGRESSED, said.change_without_direction(became)
    if isnan(first) or isnan(second):
        lost = isnan(second)
        return (Verdict.REGRESSED, said.number_lost(became)) if lost else (Verdict.IMPROVED, said.number_found(became))
    # Compared as they are, not as floats: beyond 2**53, integers that differ are the same float.
    worse = (after > before) == (better == "lower")
    which_is = MetricWords("other", better).worse_or_better(1.0 if after > before else -1.0)
    return (Verdict.REGRESSED if worse else Verdict.IMPROVED), said.exactly_changed(became, which_is)


def exact_ratio(before: Any, after: Any) -> float | None:
    """None where there is none, or none that a float can hold."""
    if not _is_number(before) or not _is_number(after) or not before:
        return None
    try:
        ratio = after / before
    except OverflowError:
        return None
    return ratio if isfinite(ratio) else None


def format_fully(value: Any) -> str:
    """The value with every digit: two values that differ must not look the same."""
    if isinstance(value, str):
        text = repr(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        whole = isinstance(value, float) and isfinite(value) and value == int(value) and abs(value) < 2**53
        text = str(int(value)) if whole else repr(value)
    else:
        text = encode(value)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN // 2]}…{text[-MOST_SHOWN // 2 :]}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _key(value: Any) -> tuple[str, Any]:
    """What two values are compared by: `1` is not `true`, NaN is NaN, and lists can be compared too."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return ("number", "nan" if value != value else value)
    return ("other", encode(value))


CHANGED = (Verdict.IMPROVED, Verdict.REGRESSED)


def apply_canaries(rows: Iterable[Row], canaries: set[str]) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """A canary runs code that does not change, so what changes in it is the machine: no verdict, and a note beside all
    others. The rows, and the notes."""
    seen = tuple(rows)
    moved = [row for row in seen if row.entry in canaries and row.verdict in CHANGED]
    if not moved:
        return seen, ()
    named = ", ".join(f"{row.entry} {row.metric} {_how_far(row)}" for row in moved[:3])
    note = machine_moved(named)
    told = tuple(
        replace(row, verdict=Verdict.INCONCLUSIVE, reason=f"the machine changed, not the code: {row.reason}")
        if row in moved
        else row
        for row in seen
    )
    return told, (note,)


def _how_far(row: Row) -> str:
    if row.ratio is None:
        return f"({row.reason})"
    return MetricWords.of(row.metric, row.unit, row.better).change(row.ratio)


@dataclass(frozen=True)
class Judgement:
    """Whether two sides of numbers differ, and why that is said."""

    verdict: Verdict
    ratio: float | None
    """Head over base, or over the level of the history that decided; None where there is none."""
    interval: tuple[float, float] | None
    """95% interval of the ratio."""
    reason: str
    notes: tuple[str, ...] = ()


def judge(
    base: Sequence[Any],
    head: Sequence[Any],
    paired: bool = False,
    history: Sequence[float] | None = None,
    better: Better = "lower",
    exact: bool = False,
    margin: float = DEFAULT_MARGIN,
) -> Judgement:
    """Anybody's numbers, one a run; one number alone is one run.

    `paired`: the i-th of both ran side by side, in random order. `history`: one value a session before `base`, oldest
    first; with one run a night `base` is the last night's value and `history` decides. `exact`: what never varies by
    itself (a count, a size, a digest), so that any change is one.
    """
    if better not in ("lower", "higher"):
        raise UsageError(f"better is 'lower' or 'higher', not {better!r}")
    if not isinstance(margin, int | float) or not 0 <= margin < inf:
        raise UsageError(f"margin is a share such as 0.03, not {margin!r}")
    if exact:
        return _exact(plain_values(base, "base"), plain_values(head, "head"), better)
    before, after = (np.array(plain_numbers(side, name)) for side, name in ((base, "base"), (head, "head")))
    past = np.array(plain_numbers(history if history is not None else (), "history"))
    past = past[np.isfinite(past)]
    if not before.size or not after.size:
        return Judgement(Verdict.NOT_COMPARABLE, None, None, f"{'head' if before.size else 'base'} has no value")
    if missing := first_not_finite(before, "base") or first_not_finite(after, "head"):
        return Judgement(Verdict.NOT_COMPARABLE, None, None, f"{missing}: each run needs a finite number")
    if paired and before.size != after.size:
        raise UsageError(f"paired, but base has {before.size} runs and head {after.size}: give as many of each")
    if is_signed_night(past, before, after):
        night = judge_signed_night(past, before, after, MetricWords.of("", None, better), margin)
        return Judgement(night.verdict, night.ratio, None, night.reason, night.notes)
    if (before <= 0).any() or (after <= 0).any():
        return Judgement(*_judge_signed(before, after, better, margin, paired))
    found = evidence(
        before, after, np.log(past[past > 0]), better=better, margin=margin, paired=paired, sides=BASE_AND_HEAD
    )
    if found is None:
        ratio = middle(after) / middle(before)
        return Judgement(Verdict.INCONCLUSIVE, ratio, None, few_values(before.size, after.size))
    verdict, reason = judge_evidence(found, better, margin, found.shift.p)
    return Judgement(verdict, exp(found.shift.estimate), interval(found.shift), reason, found.notes)


def judge_evidence(
    found: Evidence | None, better: Better | None, margin: float, p: float, words: MetricWords | None = None
) -> tuple[Verdict, str]:
    """`p`: corrected for all rows of a table."""
    assert found is not None
    told = found.settled or _judge_shift(found, better, margin, p, words)
    if found.load is None or told[0] is Verdict.INCONCLUSIVE:
        return told
    if found.settled is None:
        explained = _judge_shift(found.without_load(), better, margin, p, words)[0] is not told[0]
    else:
        explained = found.settled_by_load(told[0])
    if not explained:
        return told
    if told[0] is Verdict.EQUIVALENT:
        return Verdict.INCONCLUSIVE, load_hides(margin, found.load.reason, found.load.factor)
    words = words or MetricWords.of("", None, better)
    by = found.slow_by if told[1] == found.slow else found.shift.estimate
    return Verdict.INCONCLUSIVE, load_explains(words, exp(by), found.load.reason, found.load.factor)


def _judge_shift(
    found: Evidence, better: Better | None, margin: float, p: float, words: MetricWords | None
) -> tuple[Verdict, str]:
    return unless_slow(verdict_of(found.shift, better, margin, p, found.advice, words), found.slow, margin)


def _exact(base: Sequence[Any], head: Sequence[Any], better: Better) -> Judgement:
    """Judges exact values by the rule that compared records follow."""
    for name, side in (("base", base), ("head", head)):
        if not side:
            return Judgement(Verdict.NOT_COMPARABLE, None, None, f"{name} has no value")
        if seen := varying(side):
            return Judgement(Verdict.NOT_COMPARABLE, None, None, not_exact_values(f"in {name}", seen))
    verdict, reason = judge_exact(base[0], head[0], better, None)
    ratio = exact_ratio(base[0], head[0])
    return Judgement(verdict, ratio, None if ratio is None else (ratio, ratio), reason)


def _judge_signed(
    before: np.ndarray, after: np.ndarray, better: Better, margin: float, paired: bool
) -> tuple[Verdict, None, None, str]:
    verdict, reason = judge_signed(before, after, MetricWords.of("", None, better), margin, paired)
    return verdict, None, None, reason


TRIED = (10, 20, 30, 40, 60, 80, 120, 160, 240)
SURE = 0.8
"""Share of the experiments that must call identical code equivalent."""
_EXPERIMENTS = 200


def pairs_needed(a: Floats, b: Floats, margin: float = DEFAULT_MARGIN) -> int | None:
    """How many pairs of identical code with this noise are called equivalent in eight of ten experiments; None if the
    most that is tried are not.

    Found by experiments, not by a formula: pairs are drawn from those measured, and their sides swapped at random,
    since identical code has no sides.
    """
    rng = np.random.default_rng(a.size)
    for count in TRIED:
        said = [_equivalent(rng, np.stack([a, b], axis=1), count, margin) for _ in range(_EXPERIMENTS)]
        if np.mean(said) >= SURE:
            return count
    return None


def _equivalent(rng: np.random.Generator, pairs: Floats, count: int, margin: float) -> bool:
    drawn = rng.permuted(pairs[rng.integers(0, len(pairs), count)], axis=1)
    a, b = drawn.T.tolist()
    return judge(a, b, paired=True, margin=margin).verdict is Verdict.EQUIVALENT


_SECONDS = {"s": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


@dataclass(frozen=True)
class RepeatPlan:
    """Where more repeats pay, for one metric that a program measures repeatedly within a run."""

    entry: str
    metric: str
    iterations: int
    runs: int
    within: float
    between: float

    def __str__(self) -> str:
        where = "between runs" if self.between > self.within else "within runs"
        return (
            f"{self.entry} {self.metric} varies {where} (within {self.within:.1%}, between {self.between:.1%}): "
            f"{self.iterations} iterations a run and `repeat: {self.runs}` give ±2% at the least cost"
        )


def repeat_plan(runs: Sequence[Record], metric: str) -> RepeatPlan | None:
    """None unless two runs or more have samples; iterations that are warm-up are left out of the pilot."""
    measured = [(run, run.metrics[metric]) for run in runs if metric in run.metrics]
    levels, costs, starts = [], [], []
    for run, item in measured:
        samples = [value for value in item.samples if isfinite(value)]
        kept = samples[find_warmup(samples).cut :] if samples else []
        if len(kept) < 2:
            continue
        scale = _SECONDS.get(item.unit or "", 0.0)
        # Without a unit of time, all of the run is taken as its iterations' cost.
        seconds = fsum(samples) * scale if scale else run.exec_time_s
        levels.append(kept)
        costs.append(max(seconds / len(samples), 1e-9))
        starts.append(max(run.exec_time_s - seconds, 1e-3))
    if len(levels) < 2:
        return None
    plan = plan_repeats(levels, run_cost=median(starts), iteration_cost=median(costs))
    return RepeatPlan(runs[0].name, metric, plan.iterations, plan.runs, plan.within, plan.between)


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
