"""What changed, at the end of a run: a line each."""

from __future__ import annotations

from assay.analysis.sentences.conclusion_sentences import count_verdicts, verdict_word
from assay.analysis.sentences.metric_words import MetricWords


def change(
    verdict: str, metric: str, words: MetricWords, values: tuple[float | None, float | None], ratio: float | None,
    ends: tuple[float | None, float | None],
) -> str:  # fmt: skip
    """`regressed: sort time_s 2 s → 2.3 s, 15.0% slower (12% … 18%)`; `metric`: with its entry."""
    base, head = values
    moved = "" if base is None or head is None else f" {words.became(base, head)}"
    how = "" if ratio is None else f"{',' if moved else ''} {words.judge_change(ratio)}"
    low, high = ends
    between = "" if low is None or high is None else words.range(low, high)
    return f"{verdict_word(verdict)}: {metric}{moved}{how}{f' ({between})' if between else ''}"


def change_without_order(metric: str, reason: str) -> str:
    """It changed, and nothing says whether for the worse."""
    return f"changed: {metric}: {reason.removeprefix('changed: ')}"


def more(count: int, base: str, head: str) -> str:
    """A base of several sessions has no name that a command would know."""
    where = "the report has them" if " " in base else f"`assay compare {base} {head}`"
    return f"and {count} more: {where}"


def rest(base: str, counts: dict[str, int], *, compared: bool, changes: bool) -> str:
    """What is not changed, counted by verdict."""
    if changes:
        return f"against {base}: {count_verdicts(counts)}"
    if not compared:
        return f"nothing could be compared with {base}: {count_verdicts(counts)}"
    same = counts.get("equivalent", 0)
    if same == sum(counts.values()):
        return f"nothing changed against {base} ({same} metric{'' if same == 1 else 's'})"
    return f"no change shown against {base}: {count_verdicts(counts)}"


def why_open(count: int, of: int, reason: str) -> str:
    """The commonest reason of what stayed inconclusive."""
    return f"{'inconclusive' if count == of else f'{count} of {of} inconclusive'}: {reason}"
