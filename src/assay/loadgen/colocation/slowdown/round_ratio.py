"""A ratio of one round, beside to alone, and how far chance may have moved it.

Answers and latencies of neighbouring queries depend on each other, blocks of them hardly do, so blocks are what a
bootstrap draws (batch means: Law, Simulation Modeling and Analysis, 9.5; block bootstrap: Künsch, Annals of Statistics
17, 1989). The same blocks are drawn of both runs: they hold the same queries, and what one of them costs cancels out.
The bootstrap gives the standard error of the ratio's logarithm. The interval is made from it by a t quantile for the
number of blocks, not by the bootstrap's own quantiles: with 20 blocks these are too narrow, above all for a 99th
percentile of a few hundred queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from assay.loadgen.colocation.slowdown.answers import Floats
from assay.loadgen.latency.histogram import bucket_of, highest_in
from assay.loadgen.measured import Ints

MOST_BLOCKS = 20
LEAST_BLOCKS = 5
_RESAMPLES = 400


@dataclass(frozen=True)
class RoundRatio:
    """One figure alone and beside others. It is worse when it is higher: seconds of work, latency."""

    alone: float
    beside: float
    error: float
    """Standard error of `log`."""
    blocks: int

    @property
    def log(self) -> float:
        return log(self.beside / self.alone)


def ratio_of_sums(alone: Floats, beside: Floats, seed: int = 0) -> RoundRatio:
    """Ratio of the sums of both sides, over blocks of the same work."""
    drawn = _draw(len(alone), seed)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log((drawn @ beside) / (drawn @ alone))
    return RoundRatio(float(alone.mean()), float(beside.mean()), _spread(logs, len(alone)), len(alone))


def ratio_of_quantiles(alone: Ints, beside: Ints, share: float, blocks: int, seed: int = 0) -> RoundRatio:
    """Ratio of a quantile of both sides. Values are in the order of their queries; both sides are cut into as many
    blocks, and the n-th of each belong together."""
    drawn = _draw(blocks, seed)
    before, after = (_quantiles(values, share, drawn) for values in (alone, beside))
    once = np.ones((1, blocks), np.int64)
    whole = [float(_quantiles(values, share, once)[0]) for values in (alone, beside)]
    return RoundRatio(whole[0], whole[1], _spread(np.log(after / before), blocks), blocks)


def blocks_of(count: int, least_in_one: int) -> int:
    return min(MOST_BLOCKS, count // least_in_one)


def _quantiles(values: Ints, share: float, drawn: Ints) -> Floats:
    """A quantile for each resample: the smallest value that `share` of it do not exceed."""
    blocks = drawn.shape[1]
    buckets, which = np.unique(bucket_of(np.maximum(values, 1)), return_inverse=True)
    block = np.arange(len(values)) * blocks // len(values)
    counts = np.bincount(block * len(buckets) + which, minlength=blocks * len(buckets)).reshape(blocks, -1)
    up_to = np.cumsum(counts, axis=1)
    rank = np.maximum(np.ceil(share * (drawn * up_to[:, -1]).sum(axis=1)), 1)
    # Bisection, all resamples at once: a sum over the blocks a step, and not over every value.
    low, high = np.zeros(len(drawn), np.int64), np.full(len(drawn), len(buckets) - 1)
    while (low < high).any():
        middle = (low + high) // 2
        enough = (drawn * up_to[:, middle].T).sum(axis=1) >= rank
        low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
    return np.asarray(highest_in(buckets)[low], np.float64)


def _draw(blocks: int, seed: int) -> Ints:
    """How often each block is in each resample."""
    picks = np.random.default_rng(seed).multinomial(blocks, np.full(blocks, 1 / blocks), _RESAMPLES)
    return np.asarray(picks, np.int64)


def _spread(logs: Floats, blocks: int) -> float:
    """Standard deviation over the resamples, corrected: with few blocks a resample varies less than new blocks
    would."""
    finite = logs[np.isfinite(logs)]
    return float(finite.std()) * sqrt(blocks / (blocks - 1))
