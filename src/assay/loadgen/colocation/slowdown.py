"""One pipeline in one round: alone and beside others, over the same window of the same work.

With a schedule, the window is a stretch of it: the time in which all ran together, as far as the run alone reached.
Both runs were to send the same queries in it. Without a schedule (a closed loop, or all queries at once) the window is
the work that was answered while all ran together; alone, the same work took another time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import exp, fsum, sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Literal

import numpy as np

from assay.loadgen.colocation.round_ratio import (
    LEAST_BLOCKS,
    MOST_BLOCKS,
    Answers,
    RoundRatio,
    blocks_of,
    nth_call,
    ratio_of_quantiles,
    ratio_of_sums,
)
from assay.loadgen.load_result import Ints
from assay.stats.intervals import Interval, t_quantile

if TYPE_CHECKING:
    from assay.loadgen.colocation.colocation import GroupOutcome
    from assay.loadgen.colocation.round_ratio import Floats


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


CONFIDENCE = 0.95

What = Literal["throughput", "p50", "p99", "mean"]


@dataclass(frozen=True)
class Slowdown:
    """One figure of a pipeline or of a stage, beside others against alone. 1 is no slowdown, 2 is half as fast."""

    what: What
    stage: int | None
    """Id of the stage; None: the whole pipeline."""
    rounds: tuple[RoundRatio, ...]
    reason: str = ""
    """Why there is no number."""

    @property
    def interval(self) -> Interval | None:
        return combine(self.rounds) if self.rounds else None

    @property
    def alone(self) -> float | None:
        """Nanoseconds alone (for throughput: for an answer), geometric mean of the rounds."""
        return None if not self.rounds else _geometric([one.alone for one in self.rounds])

    @property
    def beside(self) -> float | None:
        return None if not self.rounds else _geometric([one.beside for one in self.rounds])

    @property
    def slower(self) -> bool | None:
        """None: the interval holds 1, or there is none."""
        interval = self.interval
        return None if interval is None or not interval.excludes(1.0) else interval.low > 1.0


def combine(rounds: Sequence[RoundRatio], confidence: float = CONFIDENCE) -> Interval:
    """The geometric mean of the rounds, with an interval for the next rounds on the same machine.

    Blocks of one round share what the machine did then, so rounds are what is drawn from. With two or more the
    interval is Student's for their logarithms, and never narrower than what the blocks within them differ by: two
    rounds that happen to agree prove little. (A bootstrap over so few rounds is too narrow: Cameron, Gelbach and
    Miller, Review of Economics and Statistics 90, 2008.) With one round it holds only what its blocks differ by.
    """
    count, tail = len(rounds), (1 + confidence) / 2
    logs = [one.log for one in rounds]
    middle = fmean(logs)
    freedom = sum(one.blocks - 1 for one in rounds)
    half = t_quantile(tail, freedom) * sqrt(fsum(one.error**2 for one in rounds)) / count
    if count > 1:
        half = max(half, t_quantile(tail, count - 1) * stdev(logs) / sqrt(count))
    return Interval(exp(middle), exp(middle - half), exp(middle + half), confidence)


def _geometric(values: Sequence[float]) -> float:
    from math import log

    return exp(fmean(log(value) for value in values))


PERCENTILES: tuple[What, ...] = ("p50", "p99")


@dataclass(frozen=True)
class Contrast:
    """One pipeline alone and beside others, over all rounds: figures, distributions and slowdowns of one window."""

    pipeline: str
    beside: tuple[str, ...]
    rounds: tuple[RoundContrast, ...]
    problem: str = ""
    """Why nothing can be compared; then there are no rounds."""

    @classmethod
    def of(
        cls, pipeline: str, beside: Sequence[str], alone: Sequence[GroupOutcome], together: Sequence[GroupOutcome]
    ) -> Contrast:
        if not alone or not together:
            return cls(pipeline, tuple(beside), (), "it was not run both alone and beside them")
        if not all(outcome.success for outcome in (*alone, *together)):
            return cls(pipeline, tuple(beside), (), "a run of it, or of what ran beside it, did not end well")
        rounds = []
        # A round that has only one of the two runs is not compared.
        for solo, group in zip(alone, together, strict=False):
            mine = Answers.of(group[pipeline])
            window = (float(group.window[0] - mine.started_at), float(group.window[1] - mine.started_at))
            rounds.append(RoundContrast(Answers.of(solo[pipeline]), mine, window))
        return cls(pipeline, tuple(beside), tuple(rounds))

    @property
    def seconds(self) -> float:
        """Length of the compared window beside the others, mean of the rounds."""
        spans = [one.window_beside[1] - one.window_beside[0] for one in self.rounds]
        return float(np.mean(spans)) / 1e9 if spans else 0.0

    @property
    def paired(self) -> bool:
        return all(one.paired for one in self.rounds)

    @cached_property
    def latencies(self) -> tuple[Ints, Ints]:
        return _join([one.latencies for one in self.rounds])

    @cached_property
    def stages(self) -> dict[int, tuple[Ints, Ints]]:
        """Call times by stage id, alone and beside."""
        ids = self.rounds[0].beside.result.stages if self.rounds else ()
        return {stage: _join([one.stages[stage] for one in self.rounds]) for stage in ids}

    @cached_property
    def slowdowns(self) -> tuple[Slowdown, ...]:
        return tuple(self._slowdowns())

    def _slowdowns(self) -> Iterator[Slowdown]:
        yield self._slowdown("throughput", None, RoundContrast.throughput)
        for what in PERCENTILES:
            yield self._slowdown(what, None, partial(_latency, what=what))
        for stage, (alone, beside) in self.stages.items():
            if not len(alone) and not len(beside):
                continue
            yield self._slowdown("mean", stage, partial(_mean, stage=stage))
            for what in PERCENTILES:
                yield self._slowdown(what, stage, partial(_percentile, stage=stage, what=what))

    def _slowdown(self, what: What, stage: int | None, ratio: Callable[[RoundContrast], RoundRatio]) -> Slowdown:
        try:
            return Slowdown(what, stage, tuple(ratio(one) for one in self.rounds), self.problem)
        except TooLittle as reason:
            return Slowdown(what, stage, (), str(reason))

    def slowdown(self, what: What, stage: int | None = None) -> Slowdown:
        return next(one for one in self.slowdowns if (one.what, one.stage) == (what, stage))


def _latency(one: RoundContrast, what: str) -> RoundRatio:
    return percentile_ratio(*one.latencies, what)


def _mean(one: RoundContrast, stage: int) -> RoundRatio:
    return mean_ratio(*one.stages[stage])


def _percentile(one: RoundContrast, stage: int, what: str) -> RoundRatio:
    return percentile_ratio(*one.stages[stage], what, "calls")


def _join(rounds: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    empty = np.empty(0, np.int64)
    return (
        np.concatenate([empty, *(alone for alone, _ in rounds)]),
        np.concatenate([empty, *(beside for _, beside in rounds)]),
    )
