from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.report.session_view import MetricView

LEAST_SAMPLES = 20
_WORLDS_APART = 1000.0
"""Ratio of the highest to the lowest value above which entries do not share a scale."""
_SHARES = (0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999)


@dataclass(frozen=True)
class Bin:
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Distribution:
    """How a metric's samples are distributed: a histogram, with bins of equal ratio where they spread widely, and the
    tail."""

    metric: str
    unit: str | None
    count: int
    bins: tuple[Bin, ...]
    percentiles: tuple[tuple[str, float], ...]
    """Only those the sample is large enough for: p99 of fifty values would be its maximum under another name."""
    shared: bool = False
    """Its scale is that of the same metric in other entries."""


def distribution(
    metric: MetricView, most_bins: int = 40, scale: tuple[float, float] | None = None
) -> Distribution | None:
    """`scale`: from and to, where others have the same."""
    samples = sorted(value for value in metric.samples if math.isfinite(value))
    if len(samples) < LEAST_SAMPLES or samples[0] == samples[-1]:
        return None
    return Distribution(
        metric.name,
        metric.unit,
        len(samples),
        _bins(samples, min(most_bins, math.ceil(math.sqrt(len(samples))) + 4) if scale is None else most_bins, scale),
        tuple((_name(share), _rank(samples, share)) for share in _SHARES if len(samples) * (1 - share) >= 1),
        scale is not None,
    )


def percentile_ladder(value: object) -> Mapping[str, float]:
    """`p50 …` of an object that has at least three of them, as load generators write."""
    if not isinstance(value, Mapping):
        return {}
    found = {
        str(key): float(item)
        for key, item in value.items()
        if str(key).startswith("p") and str(key)[1:3].isdigit() and isinstance(item, int | float)
    }
    return found if len(found) >= 3 else {}


def common_scales(entries: Iterable[Sequence[MetricView]]) -> dict[tuple[str, str | None], tuple[float, float]]:
    """Lowest and highest value, by name and unit, of metrics that several entries have samples of. Entries that are
    worlds apart keep their own: on one scale all of them would be a line."""
    ends: dict[tuple[str, str | None], list[tuple[float, float]]] = {}
    for metrics in entries:
        for metric in metrics:
            if len(metric.samples) >= LEAST_SAMPLES:
                ends.setdefault((metric.name, metric.unit), []).append((min(metric.samples), max(metric.samples)))
    scales = {key: (min(low for low, _ in found), max(high for _, high in found)) for key, found in ends.items()}
    return {
        key: (low, high)
        for key, (low, high) in scales.items()
        if len(ends[key]) > 1 and high > low and (low <= 0 or high / low <= _WORLDS_APART)
    }


def _bins(ordered: Sequence[float], count: int, scale: tuple[float, float] | None) -> tuple[Bin, ...]:
    low, high = scale or (ordered[0], ordered[-1])
    ratio = low > 0 and high / low > 20
    at = math.log if ratio else float
    start, step = at(low), (at(high) - at(low)) / count
    counts = [0] * count
    for value in ordered:
        counts[max(0, min(count - 1, int((at(value) - start) / step)))] += 1
    edges = [start + step * i for i in range(count + 1)]
    if ratio:
        edges = [math.exp(edge) for edge in edges]
    return tuple(Bin(a, b, n) for a, b, n in zip(edges, edges[1:], counts, strict=False))


def _rank(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


def _name(share: float) -> str:
    return f"p{share * 100:.6g}"
