"""How much slower a pipeline is beside others, with an interval.

The time in which all were running is cut into slices; answers a second and latencies of neighbouring queries depend on
each other, slices of them hardly do, so slices are what the bootstrap draws (batch means: Law, Simulation Modeling and
Analysis, 9.5; block bootstrap: Künsch, Annals of Statistics 17, 1989).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assay.loadgen.colocation.colocation import PipelineOutcome
from assay.stats.intervals import Interval

SLICES = 20
CONFIDENCE = 0.95
_RESAMPLES = 1000

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Slowdown:
    """1 is no slowdown, 2 is half the throughput or twice the p99."""

    throughput: Interval
    p99: Interval


@dataclass(frozen=True)
class Slices:
    rates: Floats
    """Answers a second, a slice each."""
    latencies: tuple[Floats, ...]

    @classmethod
    def of(cls, outcome: PipelineOutcome, window: tuple[int, int]) -> Slices:
        queries = outcome.result.measured.queries
        edges = np.linspace(window[0], max(window[1], window[0] + 1), SLICES + 1)
        cuts = np.searchsorted(queries["end"], edges)
        latency = (queries["end"] - queries["intended"]).astype(np.float64)
        # An answer that ends in a slice was partly made in the one before; with few queries a slice a count would be
        # coarse, so the answers are spread over the time they took.
        counts = np.diff(_answered_by(edges, queries["start"], queries["end"]))
        parts = tuple(latency[a:b] for a, b in pairwise(cuts))
        return cls(counts / (np.diff(edges) / 1e9), parts)


def _answered_by(at: Floats, start: NDArray[np.int64], end: NDArray[np.int64]) -> Floats:
    """How many answers were complete at each time, with the share of those under way."""
    if len(end) == 0:
        return np.zeros(len(at))
    return np.interp(at, np.concatenate([[start[0]], end]), np.arange(len(end) + 1, dtype=np.float64))


def slowdown(solo: Sequence[Slices], beside: Sequence[Slices], seed: int = 0) -> Slowdown:
    rng = np.random.default_rng(seed)
    return Slowdown(_throughput(solo, beside, rng), _p99(solo, beside, rng))


def _throughput(solo: Sequence[Slices], beside: Sequence[Slices], rng: np.random.Generator) -> Interval:
    alone, together = (np.concatenate([part.rates for part in side]) for side in (solo, beside))
    if not alone.any() or not together.any():
        return Interval(float("nan"), float("nan"), float("nan"), CONFIDENCE)
    ratios = _resampled_means(alone, rng) / np.maximum(_resampled_means(together, rng), 1e-12)
    low, high = np.quantile(ratios, _tails())
    return Interval(float(alone.mean() / together.mean()), float(low), float(high), CONFIDENCE)


def _resampled_means(values: Floats, rng: np.random.Generator) -> Floats:
    return np.asarray(values[rng.integers(0, len(values), (_RESAMPLES, len(values)))].mean(axis=1))


def _p99(solo: Sequence[Slices], beside: Sequence[Slices], rng: np.random.Generator) -> Interval:
    alone, together = ([part for s in side for part in s.latencies if len(part)] for side in (solo, beside))
    if not alone or not together:
        return Interval(float("nan"), float("nan"), float("nan"), CONFIDENCE)
    estimate = _quantile(together) / _quantile(alone)
    ratios = [_drawn(together, rng) / _drawn(alone, rng) for _ in range(_RESAMPLES // 5)]
    low, high = np.quantile(ratios, _tails())
    return Interval(estimate, float(low), float(high), CONFIDENCE)


def _drawn(parts: Sequence[Floats], rng: np.random.Generator) -> float:
    return _quantile([parts[n] for n in rng.integers(0, len(parts), len(parts))])


def _quantile(parts: Sequence[Floats]) -> float:
    return max(float(np.quantile(np.concatenate(parts), 0.99)), 1.0)


def _tails() -> tuple[float, float]:
    return (1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2
