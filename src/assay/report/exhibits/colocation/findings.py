from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from assay.analysis.colocation.colocation_result import ColocationResult
from assay.analysis.colocation.slowdown_estimate import SlowdownEstimate
from assay.report.exhibits.colocation.heat_map import Tone, beside_words, column_of, interval_ends, tone_of

_MOST = 12


@dataclass(frozen=True)
class ColocationFinding:
    tone: Tone
    says: str
    evidence: str = ""


def findings(result: ColocationResult) -> tuple[ColocationFinding, ...]:
    """The answer: who is slower beside whom, the worst first, and what is inconclusive."""
    pairs: dict[tuple[str, tuple[str, ...]], list[SlowdownEstimate]] = {}
    for one in result.estimates:
        if one.stage is None and one.estimate is not None:
            pairs.setdefault((one.pipeline, column_of(one)), []).append(one)
    told = [*_tell(pairs.values(), "slower"), *_tell(pairs.values(), "faster")]
    found = told[:_MOST]
    if len(told) > _MOST:
        found.append(ColocationFinding("none", f"{len(told) - _MOST} more are in the tables below."))
    if result.kind == "together" and len(result.names) > 1:
        says = "These pipelines ran only together. To see who slows whom, measure each alone as well: --matrix."
        found.append(ColocationFinding("none", says))
    return (*found, *_unsure(list(pairs.values()), bool(told)))


def _tell(pairs: Iterable[Sequence[SlowdownEstimate]], tone: Literal["slower", "faster"]) -> list[ColocationFinding]:
    """One for each pair with a measure that is certain, the largest difference first."""
    found = []
    for estimates in pairs:
        if certain := [one for one in estimates if tone_of(one) == tone]:
            first, size = certain[0], max(_size(one) for one in certain)
            says = f"{first.pipeline} is {tone} beside {beside_words(first)}"
            found.append((size, ColocationFinding(tone, says, _numbers(certain))))
    return [finding for _, finding in sorted(found, key=lambda item: -item[0])]


def _numbers(certain: Sequence[SlowdownEstimate]) -> str:
    """`throughput 1.59× (1.52 to 1.67), p99 1.57× (1.49 to 1.65); 95% intervals`."""
    told = ", ".join(f"{one.what} {one.estimate:.2f}× ({interval_ends(one)})" for one in certain)
    shares = {one.confidence for one in certain}
    share = next(iter(shares)) if len(shares) == 1 else None
    return told + ("" if share is None else f"; {share * 100:.3g}% interval{'s' if len(certain) > 1 else ''}")


def _unsure(pairs: Sequence[Sequence[SlowdownEstimate]], any_told: bool) -> list[ColocationFinding]:
    unsure = [estimates for estimates in pairs if all(tone_of(one) == "unsure" for one in estimates)]
    if not unsure:
        return []
    if len(unsure) == len(pairs) and not any_told:
        says = "Can't tell whether any pipeline is slower beside another: each may be as fast as alone (1×)."
    elif len(unsure) == 1:
        first = unsure[0][0]
        pair = f"{first.pipeline} is slower beside {beside_words(first)}"
        says = f"Can't tell whether {pair}: it may be as fast as alone (1×)."
    else:
        says = f"{len(unsure)} cases are inconclusive: each may be as fast as alone (1×)."
    return [ColocationFinding("unsure", says, "try more rounds: --repeat")]


def _size(estimate: SlowdownEstimate) -> float:
    value = estimate.estimate or 1.0
    return value if value >= 1 else 1 / max(value, 1e-3)
