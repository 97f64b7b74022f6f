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
from functools import cached_property
from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.loadgen.colocation.build_components import build_scheduler
from assay.loadgen.latency import bucket_of, highest_in
from assay.loadgen.load_result import Ints, LoadResult
from assay.loadgen.shared_counters import OK
from assay.loadgen.trace_file import Rows

if TYPE_CHECKING:
    from assay.loadgen.colocation.colocation import PipelineOutcome


Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Answers:
    """What one pipeline answered in one run. Times are nanoseconds from its own start."""

    result: LoadResult
    open_loop: bool

    @classmethod
    def of(cls, outcome: PipelineOutcome) -> Answers:
        return cls(outcome.result, build_scheduler(outcome.config).concurrency is None)

    @property
    def started_at(self) -> int:
        return self.result.started_at

    @cached_property
    def queries(self) -> Rows:
        """Answered queries, in the order in which they ended."""
        return self.result.measured.queries

    @cached_property
    def ends(self) -> Ints:
        return np.asarray(self.queries["end"] - self.started_at)

    @cached_property
    def _times(self) -> Floats:
        """The time at which 0, 1, 2, … answers were complete."""
        first = int(self.queries["start"].min()) - self.started_at
        return np.concatenate([[min(first, int(self.ends[0]))], self.ends]).astype(np.float64)

    def count_at(self, at: Floats) -> Floats:
        """How many answers were complete at each time, with the share of the one under way."""
        if not len(self.queries):
            return np.zeros(np.shape(at))
        return np.interp(at, self._times, np.arange(len(self._times), dtype=np.float64))

    def time_of(self, count: Floats) -> Floats:
        """When that many answers were complete."""
        return np.interp(count, np.arange(len(self._times), dtype=np.float64), self._times)

    @property
    def scheduled(self) -> bool:
        """Were queries spread over time by a schedule, or sent as fast as they were answered?"""
        intended = self.queries["intended"]
        return self.open_loop and len(intended) > 0 and int(intended.min()) < int(intended.max())

    @cached_property
    def by_id(self) -> Rows:
        return np.asarray(self.queries[np.argsort(self.queries["query"], kind="stable")])

    def in_window(self, begin: float, end: float) -> Rows:
        """Queries that were to be sent in the window, by id; of a load that is sent at once, those answered in it."""
        times = self.by_id["end"] if self.open_loop and not self.scheduled else self.by_id["intended"]
        at = times - self.started_at
        return np.asarray(self.by_id[(at >= begin) & (at < end)])

    def same_schedule(self, other: Answers) -> bool:
        """Was every query that both answered to be sent at the same time after the start?"""
        _, mine, theirs = np.intersect1d(self.by_id["query"], other.by_id["query"], return_indices=True)
        here = self.by_id["intended"][mine] - self.started_at
        there = other.by_id["intended"][theirs] - other.started_at
        return bool(np.array_equal(here, there))

    def calls(self, stage: int) -> Rows:
        """Calls of a stage that ended well, by query and, within one, by time."""
        rows = self.result.measured.rows
        rows = rows[(rows["stage"] == stage) & (rows["status"] == OK)]
        return np.asarray(rows[np.lexsort((rows["start"], rows["query"]))])


def nth_call(calls: Rows) -> Ints:
    """Number of earlier calls of the same query, for each call."""
    query = calls["query"]
    new = np.concatenate([[True], query[1:] != query[:-1]]) if len(query) else np.empty(0, np.bool_)
    at = np.arange(len(query))
    return np.asarray(at - np.maximum.accumulate(np.where(new, at, 0)) if len(query) else at)


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
