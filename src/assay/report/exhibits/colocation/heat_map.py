from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from assay.analysis.colocation.slowdown_estimate import WHAT, SlowdownEstimate, copy_of

Tone = Literal["slower", "faster", "unsure", "none"]
TITLES: Final = {
    "throughput": "By throughput",
    "p50": "By median latency (p50)",
    "p99": "By 99th percentile of latency",
}
_MOST_REASONS = 20
_LEAST = 0.1
_MOST = 100.0


@dataclass(frozen=True)
class HeatCell:
    text: str
    interval: str
    tone: Tone
    heat: float
    """0 to 1: how strongly it is coloured. Twice as slow, or twice as fast, is as strong as it gets."""
    says: str
    """All of it in words, for who cannot see where it stands."""
    anchor: str = ""
    """Where the group's stages are shown, if they are."""

    @classmethod
    def of(cls, estimate: SlowdownEstimate, anchor: str = "") -> HeatCell:
        who = f"{estimate.pipeline} beside {beside_words(estimate)}, {estimate.what}"
        if estimate.estimate is None:
            return cls("–", "", "none", 0.0, f"{who}: no number. {estimate.reason}".rstrip(), anchor)
        tone, text = tone_of(estimate), f"{estimate.estimate:.2f}×"
        interval = interval_ends(estimate)
        told = {
            "slower": "slower than alone", "faster": "faster than alone",
            "unsure": "inconclusive, may be as fast as alone", "none": "inconclusive, it has no interval",
        }  # fmt: skip
        says = f"{who}: {text}" + (f", interval {interval}" if interval else "") + f": {told[tone]}"
        heat = min(1.0, abs(math.log2(max(estimate.estimate, 1e-3)))) if tone in ("slower", "faster") else 0.0
        return cls(text, interval, tone, heat, says, anchor)


NOT_MEASURED: Final = HeatCell("–", "", "none", 0.0, "not measured")


@dataclass(frozen=True)
class HeatMap:
    """Slowdown by one measure: whose row it is suffers, whose column it is causes."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]
    reasons: tuple[str, ...]
    """Why cells have no number."""


def heat_maps(
    estimates: Sequence[SlowdownEstimate], names: Sequence[str], anchors: Mapping[frozenset[str], str]
) -> tuple[HeatMap, ...]:
    """`anchors`: where a group is shown, by its members."""
    whole = [one for one in estimates if one.stage is None]
    return tuple(_map(what, found, names, anchors) for what in WHAT if (found := [x for x in whole if x.what == what]))


def column_of(estimate: SlowdownEstimate) -> tuple[str, ...]:
    """Beside its own copy, a pipeline is on the diagonal."""
    return (estimate.pipeline,) if estimate.own_copy else estimate.beside


def beside_words(estimate: SlowdownEstimate) -> str:
    return "its own copy" if estimate.own_copy else " + ".join(estimate.beside)


def interval_ends(estimate: SlowdownEstimate) -> str:
    """`1.48 to 1.77`; with more digits where an end that is not 1 would look like it. Beyond a tenth and a hundred,
    rounds differ so much that a figure would say nothing."""
    if estimate.low is None or estimate.high is None:
        return ""
    ends = (estimate.low, estimate.high)
    digits = next((digits for digits in (2, 3, 4) if not any(end != 1 and round(end, digits) == 1 for end in ends)), 5)
    low = "less than 0.1" if estimate.low < _LEAST else f"{estimate.low:.{digits}f}"
    high = "more than 100" if estimate.high > _MOST else f"{estimate.high:.{digits}f}"
    return f"{low} to {high}"


def tone_of(estimate: SlowdownEstimate) -> Tone:
    if estimate.estimate is None or estimate.low is None:
        return "none"
    return "unsure" if estimate.slower is None else "slower" if estimate.slower else "faster"


def group_of(estimate: SlowdownEstimate) -> frozenset[str]:
    """Members of the group that it was measured in."""
    beside = (copy_of(estimate.pipeline),) if estimate.own_copy else estimate.beside
    return frozenset((estimate.pipeline, *beside))


def _map(
    what: str, estimates: Sequence[SlowdownEstimate], names: Sequence[str], anchors: Mapping[frozenset[str], str]
) -> HeatMap:
    cells: dict[tuple[str, tuple[str, ...]], HeatCell] = {}
    for one in estimates:
        cells.setdefault((one.pipeline, column_of(one)), HeatCell.of(one, anchors.get(group_of(one), "")))
    rows = [
        name for name in dict.fromkeys([*names, *(who for who, _ in cells)]) if any(who == name for who, _ in cells)
    ]
    seen = {beside for _, beside in cells}
    columns = dict.fromkeys([*((name,) for name in rows if (name,) in seen), *(beside for _, beside in cells)])
    told = (f"{one.pipeline} beside {beside_words(one)}, {one.what}: {one.reason}" for one in estimates if one.reason)
    return HeatMap(
        TITLES[what],
        tuple(" + ".join(column) for column in columns),
        tuple((who, tuple(cells.get((who, column), NOT_MEASURED) for column in columns)) for who in rows),
        tuple(dict.fromkeys(told))[:_MOST_REASONS],
    )
