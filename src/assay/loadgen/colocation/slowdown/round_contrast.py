"""One pipeline in one round: alone and beside others, over the same window of the same work.

With a schedule, the window is a stretch of it: the time in which all ran together, as far as the run alone reached.
Both runs were to send the same queries in it. Without a schedule (a closed loop, or all queries at once) the window is
the work that was answered while all ran together; alone, the same work took another time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.loadgen.colocation.slowdown.answers import Answers, Floats, nth_call
from assay.loadgen.colocation.slowdown.round_ratio import (
    LEAST_BLOCKS,
    MOST_BLOCKS,
    RoundRatio,
    blocks_of,
    ratio_of_quantiles,
    ratio_of_sums,
)
from assay.loadgen.measured import Ints

LEAST_QUERIES = {"p50": 20, "p99": 100}
"""Fewest queries for a percentile: with fewer it is hardly more than the largest value."""
_SHARES = {"p50": 0.5, "p99": 0.99}

Times = tuple[float, float]


class TooLittle(Exception):
    """There is no figure; the message says why."""


@dataclass(frozen=True)
class RoundContrast:
    alone: Answers
    beside: Answers
    together: Times
    """The time in which all were running, in nanoseconds from this pipeline's start."""

    @cached_property
    def scheduled(self) -> bool:
        return self.alone.scheduled and self.beside.scheduled

    @cached_property
    def paired(self) -> bool:
        """Are the same queries compared, one by one?"""
        return not self.scheduled or self.alone.same_schedule(self.beside)

    @cached_property
    def _work(self) -> Times:
        """Without a schedule: the numbers of the first and last answer that both runs have, with fractions."""
        first, last = self.beside.count_at(np.asarray(self.together))
        return float(first), float(min(last, len(self.alone.queries)))

    @cached_property
    def window_beside(self) -> Times:
        begin, end = self.together
        if not len(self.alone.queries) or not len(self.beside.queries):
            return begin, begin
        if self.scheduled:
            return begin, max(begin, min(end, float(self.alone.ends[-1])))
        last = float(self.beside.time_of(np.asarray(self._work))[1])
        return begin, min(max(begin, last), end)

    @cached_property
    def window_alone(self) -> Times:
        if self.scheduled or not len(self.alone.queries) or not len(self.beside.queries):
            return self.window_beside
        first, last = self.alone.time_of(np.asarray(self._work))
        return float(first), float(last)

    def throughput(self) -> RoundRatio:
        """Seconds for an answer, beside over alone."""
        if self.window_beside[1] <= self.window_beside[0]:
            raise TooLittle(self._nothing)
        return self._throughput_of_schedule() if self.scheduled else self._throughput_of_work()

    @property
    def _nothing(self) -> str:
        if self.together[1] <= self.together[0]:
            return "they did not run at the same time"
        return "no query was answered while all were running"

    def _throughput_of_schedule(self) -> RoundRatio:
        begin, end = self.window_beside
        answered = [float(np.diff(side.count_at(np.asarray([begin, end])))[0]) for side in (self.alone, self.beside)]
        blocks = blocks_of(int(min(answered)), 2)
        if blocks < LEAST_BLOCKS:
            raise TooLittle(_few(int(min(answered)), 2 * LEAST_BLOCKS))
        edges = np.linspace(begin, end, blocks + 1)
        alone, beside = (np.diff(side.count_at(edges)) for side in (self.alone, self.beside))
        # Counts of answers are better when higher: with the sides swapped, the ratio is that of seconds for an answer.
        found = ratio_of_sums(beside, alone)
        seconds = (end - begin) / blocks
        return RoundRatio(seconds / found.beside, seconds / found.alone, found.error, blocks)

    def _throughput_of_work(self) -> RoundRatio:
        first, last = self._work
        blocks = blocks_of(int(last - first), 1)
        if blocks < LEAST_BLOCKS:
            raise TooLittle(_few(int(last - first), LEAST_BLOCKS))
        counts = np.linspace(first, last, blocks + 1)
        alone, beside = (np.diff(side.time_of(counts)) for side in (self.alone, self.beside))
        found = ratio_of_sums(np.maximum(alone, 1.0), np.maximum(beside, 1.0))
        answers = (last - first) / blocks
        return RoundRatio(found.alone / answers, found.beside / answers, found.error, blocks)

    @cached_property
    def latencies(self) -> tuple[Ints, Ints]:
        """Latencies of the queries of the window, alone and beside, in the order of the queries."""
        beside = self.beside.in_window(*self.window_beside)
        alone = self.alone.by_id if self.paired else self.alone.in_window(*self.window_alone)
        if self.paired:
            _, mine, theirs = np.intersect1d(alone["query"], beside["query"], return_indices=True)
            alone, beside = alone[mine], beside[theirs]
        return np.asarray(alone["end"] - alone["intended"]), np.asarray(beside["end"] - beside["intended"])

    @cached_property
    def stages(self) -> dict[int, tuple[Ints, Ints]]:
        """Times of a stage's calls, by stage: first alone, then beside. Beside, calls that began in the window count
        (those that ended in it would be the shorter ones); alone, the same calls of the same queries."""
        return {stage: self._calls(stage) for stage in self.beside.result.stages}

    def _calls(self, stage: int) -> tuple[Ints, Ints]:
        alone, beside = self.alone.calls(stage), self.beside.calls(stage)
        most = 1 + max((int(nth_call(calls).max()) for calls in (alone, beside) if len(calls)), default=0)
        keys = [calls["query"] * most + nth_call(calls) for calls in (alone, beside)]
        begin, end = (self.beside.started_at + time for time in self.window_beside)
        inside = (beside["start"] >= begin) & (beside["start"] < end)
        _, mine, theirs = np.intersect1d(keys[0], keys[1][inside], return_indices=True)
        alone, beside = alone[mine], beside[inside][theirs]
        return np.asarray(alone["end"] - alone["start"]), np.asarray(beside["end"] - beside["start"])


def percentile_ratio(alone: Ints, beside: Ints, what: str, counted: str = "queries") -> RoundRatio:
    least = LEAST_QUERIES[what]
    count = min(len(alone), len(beside))
    if count < least:
        raise TooLittle(_few(count, least, counted))
    return ratio_of_quantiles(alone, beside, _SHARES[what], blocks_of(count, least // MOST_BLOCKS + 1))


def mean_ratio(alone: Ints, beside: Ints, counted: str = "calls") -> RoundRatio:
    blocks = blocks_of(len(alone), 1)
    if blocks < LEAST_BLOCKS:
        raise TooLittle(_few(len(alone), LEAST_BLOCKS, counted))
    found = ratio_of_sums(_sums(alone, blocks), _sums(beside, blocks))
    calls = len(alone) / blocks
    return RoundRatio(found.alone / calls, found.beside / calls, found.error, blocks)


def _sums(values: Ints, blocks: int) -> Floats:
    block = np.arange(len(values)) * blocks // len(values)
    return np.asarray(np.maximum(np.bincount(block, values, blocks), 1.0))


def _few(count: int, least: int, counted: str = "queries") -> str:
    return f"{count} {counted} can be compared, {least} are needed"
