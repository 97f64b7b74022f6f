"""A histogram of latencies with a fixed relative error: Tene's HdrHistogram, in numpy.

Values up to 2^k fall into exact buckets of one nanosecond; every further doubling has 2^(k-1) buckets of equal width,
so the width is at most 2^-(k-1) of the value. With k = 11 that is three significant digits. Counting a million values
is one vectorised pass, and histograms of the same kind add.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.stats.early_stopping import min_passing, within_bound

SUB_BITS: Final = 11
_SUB = 1 << SUB_BITS
_HALF = _SUB >> 1
_BUCKETS = _SUB + (63 - SUB_BITS) * _HALF

Counts = NDArray[np.int64]


class Histogram:
    def __init__(self) -> None:
        self.counts: Counts = np.zeros(_BUCKETS, np.int64)
        self.total = 0
        self.sum = 0
        self.least = 0
        self.most = 0

    def add(self, values: ArrayLike) -> None:
        """Values below 0, which a clock cannot give, count as 0."""
        sample = np.maximum(np.asarray(values, np.int64), 0)
        if sample.size == 0:
            return
        self.counts += np.bincount(bucket_of(sample), minlength=_BUCKETS)
        self.least = int(sample.min()) if self.total == 0 else min(self.least, int(sample.min()))
        self.most = max(self.most, int(sample.max()))
        self.sum += int(sample.sum())
        self.total += sample.size

    def merge(self, other: Histogram) -> None:
        if other.total:
            self.least = other.least if self.total == 0 else min(self.least, other.least)
        self.counts += other.counts
        self.most = max(self.most, other.most)
        self.sum += other.sum
        self.total += other.total

    def percentile(self, share: float) -> float:
        """The smallest value that at least `share` (0 to 1) of all values do not exceed; NaN when there are none."""
        if self.total == 0:
            return float("nan")
        rank = max(int(np.ceil(share * self.total)), 1)
        bucket = int(np.searchsorted(np.cumsum(self.counts), rank))
        return float(min(int(highest_in(np.asarray([bucket]))[0]), self.most))

    @property
    def mean(self) -> float:
        return self.sum / self.total if self.total else float("nan")


def bucket_of(values: Counts) -> Counts:
    # frexp of a float64 is exact about the exponent except when rounding reaches the next power of two (from 2^53 on);
    # clocks do not.
    exponent = np.frexp(values.astype(np.float64))[1].astype(np.int64)
    shift = np.maximum(exponent - SUB_BITS, 0)
    return np.where(shift == 0, values, _SUB + (shift - 1) * _HALF + (values >> shift) - _HALF)


def highest_in(buckets: Counts) -> Counts:
    """The highest value of each bucket."""
    shift, within = np.divmod(np.maximum(buckets - _SUB, 0), _HALF)
    return np.where(buckets < _SUB, buckets, ((within + _HALF + 1) << (shift + 1)) - 1)


SHARES: Final = {"p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}


@dataclass(frozen=True)
class Latency:
    """The distribution of one kind of time. All in nanoseconds; NaN when nothing was measured."""

    count: int
    mean: float
    least: float
    most: float
    percentiles: Mapping[str, float]

    @classmethod
    def of(cls, values: ArrayLike) -> Latency:
        histogram = Histogram()
        histogram.add(values)
        return cls.from_histogram(histogram)

    @classmethod
    def from_histogram(cls, histogram: Histogram) -> Latency:
        nothing = float("nan")
        return cls(
            histogram.total,
            histogram.mean,
            histogram.least if histogram.total else nothing,
            histogram.most if histogram.total else nothing,
            {name: histogram.percentile(share) for name, share in SHARES.items()},
        )

    def __getitem__(self, name: str) -> float:
        return self.percentiles[name]

    def seconds(self, name: str) -> float:
        """A percentile in seconds."""
        return self.percentiles[name] / 1e9

    def to_json(self) -> dict[str, Any]:
        times = {"mean": self.mean, "min": self.least, "max": self.most, **self.percentiles}
        return {"count": self.count, **{f"{name}_us": ns / 1e3 for name, ns in times.items()}}


Of = Literal["latency", "first_result", "per_item"]
Nanoseconds = NDArray[np.int64]


@dataclass(frozen=True)
class Objective:
    """`percentile` of the queries within `seconds`: 0.99 and 0.1 is "p99 at most 100 ms"."""

    percentile: float
    seconds: float
    of: Of = "latency"
    """Which time: from the intended send to the result, to the first item of a streamed one, or between its items."""

    def __post_init__(self) -> None:
        if not 0 < self.percentile < 1:
            raise ValueError(f"percentile must lie between 0 and 1 (0.99 for p99), not {self.percentile}")
        if not self.seconds > 0:
            raise ValueError(f"seconds must be greater than 0, not {self.seconds}")

    @property
    def name(self) -> str:
        return f"p{self.percentile * 100:g} of {self.of.replace('_', ' ')} within {self.seconds * 1e3:g} ms"


def queries_to_judge(percentile: float) -> int:
    """Number of queries with which a run that has half the allowed misses is certain to be valid."""
    over = 1
    while over / (min_passing(over, percentile) + over) < (1 - percentile) / 2:
        over += 1
    return min_passing(over, percentile) + over


@dataclass(frozen=True)
class ObjectiveJudgement:
    objective: Objective
    over: int
    total: int
    valid: bool
    reason: str
    """Empty when valid."""


def judge(objective: Objective, values: Nanoseconds, lost: int) -> ObjectiveJudgement:
    """Judges an objective. `lost`: number of queries that failed or never came back; they met no objective."""
    over = int(np.count_nonzero(values > objective.seconds * 1e9)) + lost
    total = len(values) + lost
    if total == 0:
        return ObjectiveJudgement(objective, over, total, False, f"{objective.name}: nothing was measured")
    if over > (1 - objective.percentile) * total:
        allowed = 1 - objective.percentile
        words = f"{objective.name}: {over} of {total} were over ({over / total:.2%}, allowed {allowed:.2%})"
        return ObjectiveJudgement(objective, over, total, False, words)
    if not within_bound(over, total, objective.percentile):
        words = f"{objective.name}: {over} of {total} were over, too few queries to be sure (MLPerf early stopping)"
        return ObjectiveJudgement(objective, over, total, False, words)
    return ObjectiveJudgement(objective, over, total, True, "")


@dataclass(frozen=True)
class Validity:
    """VALID or INVALID, why, and the goodput: queries a second that met every objective."""

    judgements: tuple[ObjectiveJudgement, ...]
    problems: tuple[str, ...]
    goodput: float

    @property
    def valid(self) -> bool:
        return not self.problems and all(judgement.valid for judgement in self.judgements)

    @property
    def reasons(self) -> list[str]:
        return [*self.problems, *(judgement.reason for judgement in self.judgements if judgement.reason)]

    def __str__(self) -> str:
        return "VALID" if self.valid else "INVALID: " + "; ".join(self.reasons)


def good(objectives: Sequence[Objective], values: dict[Of, Nanoseconds]) -> NDArray[np.bool_]:
    """Which queries met every objective. A query without a value for one (it did not stream) did not."""
    met = np.ones(len(values["latency"]), np.bool_)
    for objective in objectives:
        mine = values[objective.of]
        met &= (mine >= 0) & (mine <= objective.seconds * 1e9)
    return met


# The highest rate that still meets the objectives, and the curve that leads there.
#
# Doubling until a rate fails and then halving the gap: each trial is a whole run, so few are needed (as LoadGen's
# FindPeakPerformance does).

T = TypeVar("T")

_LOWEST = 64
"""The search goes down to the first rate divided by this: if so low a rate fails, the rate is not what is wrong."""


@dataclass(frozen=True)
class Trial(Generic[T]):
    rate: float
    valid: bool
    outcome: T


@dataclass(frozen=True)
class Peak(Generic[T]):
    rate: float | None
    """None: even the lowest rate tried missed an objective."""
    bounded: bool
    """Whether a rate failed; otherwise the peak is higher still."""
    trials: tuple[Trial[T], ...]


def find_peak(
    run: Callable[[float], Trial[T]], start: float, precision: float = 0.05, most_trials: int = 20
) -> Peak[T]:
    """Finds the highest valid rate, to within `precision` of it, or as near as `most_trials` runs come."""
    trials: list[Trial[T]] = []
    good: float | None = None
    bad: float | None = None
    rate = start
    while len(trials) < most_trials:
        trial = run(rate)
        trials.append(trial)
        if trial.valid:
            good = max(good or 0.0, rate)
        else:
            bad = min(bad or rate, rate)
        if good is not None and bad is not None:
            if bad <= good or bad / good <= 1 + precision:
                break
            rate = (good + bad) / 2
        elif bad is None:
            rate *= 2
        elif rate <= start / _LOWEST:
            break
        else:
            rate /= 2
    return Peak(good, bad is not None, tuple(sorted(trials, key=lambda trial: trial.rate)))


def sweep(run: Callable[[float], Trial[T]], rates: Sequence[float]) -> tuple[Trial[T], ...]:
    return tuple(run(rate) for rate in sorted(rates))
