from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.analysis.colocation.colocation_result import ColocationResult
from assay.analysis.colocation.slowdown_estimate import SlowdownEstimate
from assay.report.exhibits.colocation.heat_map import Tone, beside_words, column_of, interval_words, tone_of

_MOST = 12


@dataclass(frozen=True)
class Finding:
    tone: Tone
    says: str
    evidence: str = ""


def findings(result: ColocationResult) -> tuple[Finding, ...]:
    """The answer: who is slower beside whom, the worst first, and how much of it cannot be told."""
    pairs: dict[tuple[str, tuple[str, ...]], list[SlowdownEstimate]] = {}
    for one in result.estimates:
        if one.stage is None and one.estimate is not None:
            pairs.setdefault((one.pipeline, column_of(one)), []).append(one)
    told = [
        (max(_size(one) for one in certain), finding)
        for estimates in pairs.values()
        for tone, word in (("slower", "slower"), ("faster", "faster"))
        if (certain := [one for one in estimates if tone_of(one) == tone])
        for finding in [_told(certain, "slower" if tone == "slower" else "faster", word)]
    ]
    told.sort(key=lambda item: (item[1].tone != "slower", -item[0]))
    found = [finding for _, finding in told[:_MOST]]
    if len(told) > _MOST:
        found.append(Finding("none", f"{len(told) - _MOST} more are in the tables below."))
    if result.kind == "together":
        found.append(
            Finding(
                "none",
                "These pipelines ran only together. To see who slows whom, measure each alone as well: --matrix.",
            )
        )
    return (*found, *_unsure(pairs, bool(told)))


def _told(certain: Sequence[SlowdownEstimate], tone: Tone, word: str) -> Finding:
    first = certain[0]
    numbers = "; ".join(f"{one.what} {one.estimate:.2f}×, {interval_words(one)}" for one in certain)
    return Finding(tone, f"{first.pipeline} is {word} beside {beside_words(first)}", numbers)


def _unsure(pairs: dict[tuple[str, tuple[str, ...]], list[SlowdownEstimate]], any_told: bool) -> list[Finding]:
    unsure = [estimates for estimates in pairs.values() if all(tone_of(one) == "unsure" for one in estimates)]
    if not unsure:
        return []
    if len(unsure) == len(pairs) and not any_told:
        says = "Beside each other, no pipeline can be told to be slower than alone: every interval holds 1×."
    elif len(unsure) == 1:
        first = unsure[0][0]
        says = f"{first.pipeline} beside {beside_words(first)} cannot be told from alone: every interval holds 1×."
    else:
        says = f"In {len(unsure)} cases it cannot be told: every interval holds 1×."
    return [Finding("unsure", says, "more rounds (--repeat) usually narrow the intervals")]


def _size(estimate: SlowdownEstimate) -> float:
    value = estimate.estimate or 1.0
    return value if value >= 1 else 1 / max(value, 1e-3)
