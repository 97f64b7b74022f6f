"""The reason of a verdict on values that have no ratio, on counted ones, and on sides that have none."""

from __future__ import annotations

from collections.abc import Sequence

from assay.analysis.sentences.metric_words import MetricWords, share
from assay.analysis.sentences.verdict_sentences import MORE_RUNS, few_values


def too_few(words: MetricWords, base: float, head: float, runs: tuple[int, int]) -> str:
    told = words.became(base, head) if base != head else f"{words.value(base)} on both sides"
    return f"{few_values(*runs)}: {told}"


def always(words: MetricWords, value: float) -> str:
    return f"always {words.value(value)}"


def differs(words: MetricWords, base: float, head: float) -> str:
    """Chance brings such a difference less than once in a hundred times."""
    return (
        f"{words.became(base, head)}{words.worse_or_better(head - base)} (chance alone does that less than once in 100)"
    )


def differs_little(words: MetricWords, base: float, head: float, margin: float) -> str:
    return f"can't tell if it matters: {words.became(base, head)} (changes under {share(margin)} are ignored)"


def may_be_chance(words: MetricWords, base: float, head: float) -> str:
    return f"can't tell: {words.became(base, head)}, which may be chance; {MORE_RUNS}"


def for_sessions(words: MetricWords, level: float, now: float) -> str:
    return f"{words.became(level, now)}{words.worse_or_better(now - level)}, two or more sessions in a row"


def once(words: MetricWords, level: float, now: float) -> str:
    return f"not confirmed yet: {words.became(level, now)}; the next session will tell"


def runs_differ(words: MetricWords, low: float, high: float) -> str:
    return f"can't tell: the runs of this session differ, {words.value(low)} to {words.value(high)}; {MORE_RUNS}"


def as_ever(words: MetricWords, value: float) -> str:
    return f"{words.value(value)}, as in every session at this level"


def as_sessions_differ(words: MetricWords, level: float, now: float, reach: float) -> str:
    return f"can't tell: {words.became(level, now)}, but sessions usually differ by up to {words.value(reach)}"


def exactly_same(value: str) -> str:
    return f"exactly {value} on both sides"


def exactly_changed(became: str, which_is: str) -> str:
    return f"{became}{which_is} (an exact metric: any change counts)"


def within_margin(became: str, margin: float) -> str:
    return f"{became}, within {share(margin)}"


def change_without_order(became: str) -> str:
    return f"changed: {became} (an exact metric: any change counts)"


def change_without_direction(became: str) -> str:
    return (
        f"changed: {became} (an exact metric: any change counts; if one direction is good, declare `better: higher` or "
        "`better: lower`)"
    )


def number_lost(became: str) -> str:
    return f"{became}: no number any more"


def number_found(became: str) -> str:
    return f"{became}: a number again"


def only(where: str) -> str:
    return f"only {where}"


def nothing_judged() -> str:
    return "the configuration says `judged: false` of all its metrics"


def no_number(where: str) -> str:
    return f"no finite number {where}"


def not_measured(where: str, run: str, outcome: str) -> str:
    return f"nothing measured {where}: {run} ended as {outcome}"


def other_parameters(changed: str) -> str:
    return f"different parameters{f': {changed}' if changed else ''}"


def other_part(part: str, base: str, head: str) -> str:
    """Says that a part of the fingerprint differs: project, entry, workload_version, machine."""
    if part == "workload":
        before, after = (word.removeprefix("version ") or "none" for word in (base, head))
        return f"workload_version {before} → {after}"
    names = {"machine": "kind of machine"}
    return f"different {names.get(part, part)}: {base} → {head}"


def new_series(entry: str, differences: Sequence[str]) -> str:
    return f"{entry}: {'; '.join(differences)}: a new series; nothing to compare with yet"


def refusal(differences: Sequence[str]) -> str:
    return f"{'; '.join(differences)} (`assay compare --anyway` compares them)"


def not_exact_values(where: str, seen: str) -> str:
    return f"not exact: runs {where} gave {seen}"
