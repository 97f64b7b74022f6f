"""May a run of n queries claim its tail latency? MLPerf Inference's early stopping rule.

If the true share of queries within a latency were only p, seeing t or fewer over it among h + t would have probability
Binomial(h + t, 1 - p) ≤ t. The claim holds with confidence c once that is at most 1 - c. (Reddi et al., "MLPerf
Inference Benchmark", ISCA 2020; the rule of LoadGen, c = 0.99.) With t = 0 a p99 takes 459 queries, a p90 44.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from assay.stats.intervals import binomial_at_most, finite

CONFIDENCE = 0.99


@dataclass(frozen=True)
class TailEstimate:
    """`estimate` is at or above the true percentile with the confidence asked for; None when queries are too few."""

    percentile: float
    estimate: float | None
    discarded: int
    queries: int
    needed: int

    @property
    def met(self) -> bool:
        return self.estimate is not None


@lru_cache(maxsize=65536)
def min_passing(over: int, percentile: float, confidence: float = CONFIDENCE, tolerance: float = 0.0) -> int:
    """The fewest queries within the latency that make `over` queries beyond it acceptable (h_min of t)."""
    share = percentile - tolerance
    if not 0.0 < share < 1.0:
        raise ValueError(f"percentile less tolerance must lie between 0 and 1, not {share}")
    low, high = 0, 1
    while binomial_at_most(over, high + over, 1 - share) > 1 - confidence:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        if binomial_at_most(over, middle + over, 1 - share) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def within_bound(over: int, total: int, percentile: float, confidence: float = CONFIDENCE) -> bool:
    """Server rule: `over` of `total` queries were beyond the latency bound; may the run stop and be called valid?"""
    return total - over >= min_passing(over, percentile, confidence)


def tail_estimate(latencies: ArrayLike, percentile: float, confidence: float = CONFIDENCE) -> TailEstimate:
    """Single-stream rule: the t slowest queries may be set aside; the slowest of the rest bounds the percentile.

    LoadGen starts at t = 1 and reports the fastest of the t set aside, one rank higher than needed; so do we, that
    figures can be compared.
    """
    sample = np.sort(finite(latencies))
    n = int(sample.size)
    needed = min_passing(1, percentile, confidence) + 1
    if n < needed:
        return TailEstimate(percentile, None, 0, n, needed)
    low, high = 1, n
    while high - low > 1:
        middle = (low + high) // 2
        if min_passing(middle, percentile, confidence) + middle <= n:
            low = middle
        else:
            high = middle
    return TailEstimate(percentile, float(sample[n - low]), low, n, needed)


def relative_error(estimate: TailEstimate, latencies: ArrayLike) -> float:
    """How far the safe estimate lies above the plain empirical percentile: large means more queries would help."""
    if estimate.estimate is None:
        return inf
    plain = float(np.quantile(finite(latencies), estimate.percentile))
    return estimate.estimate / plain - 1 if plain > 0 else inf
