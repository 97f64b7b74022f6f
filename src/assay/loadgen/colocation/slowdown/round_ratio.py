"""A ratio of one round, beside to alone, and how far chance may have moved it.

Answers and latencies of neighbouring queries depend on each other, blocks of them hardly do, so blocks are what a
bootstrap draws (batch means: Law, Simulation Modeling and Analysis, 9.5; block bootstrap: Künsch, Annals of Statistics
17, 1989). The same blocks are drawn of both runs: they hold the same queries, and what one of them costs cancels out.
The bootstrap gives the standard error of the ratio's logarithm. A t quantile for the number of blocks, and not the
bootstrap's own quantiles, makes the interval of it: with 20 blocks these are too narrow, above all for a 99th
percentile of few hundred queries.
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
    """Of one figure that is worse when it is higher: seconds of work, latency."""

    alone: float
    beside: float
    error: float
    """Standard error of `log`."""
    blocks: int

    @property
    def log(self) -> float:
        return log(self.beside / self.alone)


def ratio_of_sums(alone: Floats, beside: Floats, seed: int = 0) -> RoundRatio:
    """Of blocks of the same work: the sum of one side over the sum of the other."""
    drawn = _drawn(len(alone), seed)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log((drawn @ beside) / (drawn @ alone))
    return RoundRatio(float(alone.mean()), float(beside.mean()), _spread(logs, len(alone)), len(alone))


def ratio_of_quantiles(alone: Ints, beside: Ints, share: float, blocks: int, seed: int = 0) -> RoundRatio:
    """Values in the order of their queries, both sides cut into as many blocks: the n-th of each belong together."""
    drawn = _drawn(blocks, seed)
    sides = []
    for values in (alone, beside):
        buckets, which = np.unique(bucket_of(np.maximum(values, 1)), return_inverse=True)
        block = np.arange(len(values)) * blocks // len(values)
        counts = np.bincount(block * len(buckets) + which, minlength=blocks * len(buckets)).reshape(blocks, -1)
        sides.append((highest_in(buckets).astype(np.float64), counts))
    logs = np.zeros(len(drawn))
    whole = []
    for sign, (tops, counts) in zip((-1, 1), sides, strict=True):
        logs += sign * np.log(_quantile(tops, drawn @ counts, share))
        whole.append(float(_quantile(tops, counts.sum(axis=0)[None, :], share)[0]))
    return RoundRatio(whole[0], whole[1], _spread(logs, blocks), blocks)


def blocks_of(count: int, least_in_one: int) -> int:
    return min(MOST_BLOCKS, count // least_in_one)


def _quantile(tops: Floats, counts: Ints, share: float) -> Floats:
    """The smallest value that `share` of all do not exceed, a row each."""
    sums = np.cumsum(counts, axis=1)
    rank = np.maximum(np.ceil(share * sums[:, -1:]), 1)
    return np.asarray(tops[(sums < rank).sum(axis=1)])


def _drawn(blocks: int, seed: int) -> Ints:
    """How often each block is in each resample."""
    picks = np.random.default_rng(seed).multinomial(blocks, np.full(blocks, 1 / blocks), _RESAMPLES)
    return np.asarray(picks, np.int64)


def _spread(logs: Floats, blocks: int) -> float:
    """A resample leaves out some of what a block adds; for few blocks that counts."""
    finite = logs[np.isfinite(logs)]
    return float(finite.std()) * sqrt(blocks / (blocks - 1))
