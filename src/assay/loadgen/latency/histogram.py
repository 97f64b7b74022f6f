"""A histogram of latencies with a fixed relative error: Tene's HdrHistogram, in numpy.

Values up to 2^k fall into exact buckets of one nanosecond; every further doubling has 2^(k-1) buckets of equal width,
so the width is at most 2^-(k-1) of the value. With k = 11 that is three significant digits. Counting a million values
is one vectorised pass, and histograms of the same kind add.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
