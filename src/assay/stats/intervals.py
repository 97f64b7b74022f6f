"""Intervals around one statistic of one sample.

`bootstrap` is Efron's bootstrap, by default bias-corrected and accelerated (BCa: Efron, JASA 82, 1987), which keeps its
coverage for skewed samples such as run times. `quantile_interval` needs no resampling: the ranks of a sample bracket a
quantile with binomial probability (Conover, Practical Nonparametric Statistics, 3.2), which for tails of latencies is
both exact and cheaper. `share_interval` is that of Clopper & Pearson (Biometrika 26, 1934).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, lgamma, log, log1p, nan
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Student's t and the binomial without scipy, whose import costs more CPU than a whole comparison.
#
# Both are the regularised incomplete beta function I_x(a, b), computed by its continued fraction (DLMF 8.17.22) with
# the modified Lentz method; the fraction converges fast for x < (a+1)/(a+b+2), and DLMF 8.17.4 mirrors the rest.

_TINY = 1e-300
_PRECISION = 1e-15


def beta_regularised(x: float, a: float, b: float) -> float:
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - beta_regularised(1.0 - x, b, a)
    log_front = a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)
    return exp(log_front) / (a * _fraction(x, a, b))


def _fraction(x: float, a: float, b: float) -> float:
    value, c, d = 1.0, 1.0, 0.0
    for step in range(1, 10_000):
        m = step // 2
        if step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1.0 / _away_from_zero(1.0 + term * d)
        c = _away_from_zero(1.0 + term / c)
        value *= c * d
        if abs(c * d - 1.0) < _PRECISION:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def t_two_sided_p(t: float, df: float) -> float:
    """P(|T| ≥ |t|)."""
    if t != t:
        return 1.0
    return beta_regularised(df / (df + t * t), df / 2, 0.5)


@lru_cache(maxsize=4096)
def t_quantile(probability: float, df: float) -> float:
    """The t with P(T ≤ t) = probability."""
    if not 0.0 < probability < 1.0:
        return inf if probability >= 1.0 else -inf
    if probability < 0.5:
        return -t_quantile(1.0 - probability, df)
    target = 2.0 * (1.0 - probability)
    low, high = 0.0, 2.0
    while t_two_sided_p(high, df) > target:
        low, high = high, high * 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if t_two_sided_p(middle, df) > target:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def normal_quantile(probability: float) -> float:
    return NormalDist().inv_cdf(probability)


def normal_two_sided_p(z: float) -> float:
    return 2.0 * NormalDist().cdf(-abs(z))


def binomial_at_most(k: int, n: int, p: float) -> float:
    """P(X ≤ k) for X ~ Binomial(n, p)."""
    if k < 0:
        return 0.0
    if k >= n:
        return 1.0
    return beta_regularised(1.0 - p, n - k, k + 1)


Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Interval:
    estimate: float
    low: float
    high: float
    confidence: float

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2

    def excludes(self, value: float) -> bool:
        return self.low > value or self.high < value

    def inside(self, low: float, high: float) -> bool:
        return low <= self.low and self.high <= high


def median(rows: Floats) -> Floats:
    return np.asarray(np.median(rows, axis=-1), dtype=np.float64)


def mean(rows: Floats) -> Floats:
    return np.asarray(np.mean(rows, axis=-1), dtype=np.float64)


def bootstrap(
    values: ArrayLike,
    statistic: Statistic = median,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    method: Literal["bca", "percentile"] = "bca",
    seed: int = 0,
) -> Interval:
    """`statistic` reduces the last axis, so that all resamples are one call. NaN is refused: it is no data."""
    sample = finite(values)
    if sample.size == 0:
        return Interval(nan, nan, nan, confidence)
    estimate = float(statistic(sample))
    if sample.size == 1:
        return Interval(estimate, -inf, inf, confidence)
    rng = np.random.default_rng(seed)
    replicates = statistic(sample[rng.integers(0, sample.size, (resamples, sample.size))])
    tails = ((1 - confidence) / 2, (1 + confidence) / 2)
    if method == "bca":
        tails = _bca_tails(sample, estimate, replicates, statistic, tails)
    low, high = np.quantile(replicates, tails)
    return Interval(estimate, float(low), float(high), confidence)


def _bca_tails(
    sample: Floats, estimate: float, replicates: Floats, statistic: Statistic, tails: tuple[float, float]
) -> tuple[float, float]:
    # Ties count half, as otherwise a statistic with few values (a median) looks biased.
    below = float(np.mean(replicates < estimate) + np.mean(replicates == estimate) / 2)
    if not 0.0 < below < 1.0:
        return tails
    bias = normal_quantile(below)
    left_out = sample[_all_but_one(sample.size)]
    influence = statistic(left_out)
    spread = influence.mean() - influence
    scale = float(np.sum(spread**2)) ** 1.5
    acceleration = float(np.sum(spread**3)) / (6 * scale) if scale > 0 else 0.0
    adjusted = []
    for tail in tails:
        z = bias + normal_quantile(tail)
        adjusted.append(_normal_cdf(bias + z / (1 - acceleration * z)))
    return adjusted[0], adjusted[1]


def _all_but_one(n: int) -> NDArray[np.intp]:
    index = np.arange(n - 1)
    return index[None, :] + (index[None, :] >= np.arange(n)[:, None])


def _normal_cdf(z: float) -> float:
    from statistics import NormalDist

    return NormalDist().cdf(z)


def quantile_interval(values: ArrayLike, quantile: float, *, confidence: float = 0.95) -> Interval:
    """Distribution-free; a bound that the sample is too small for is infinite, which is the truth about it."""
    sample = np.sort(finite(values))
    n = int(sample.size)
    if n == 0:
        return Interval(nan, nan, nan, confidence)
    tail = (1 - confidence) / 2
    low_rank = _rank_below(n, quantile, tail)
    high_rank = n + 1 - _rank_below(n, 1 - quantile, tail)
    low = float(sample[low_rank - 1]) if low_rank >= 1 else -inf
    high = float(sample[high_rank - 1]) if high_rank <= n else inf
    return Interval(float(np.quantile(sample, quantile)), low, high, confidence)


def _rank_below(n: int, quantile: float, tail: float) -> int:
    """The largest rank r with P(fewer than r values lie below the quantile) ≤ tail; 0 if there is none."""
    low, high = 0, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        if binomial_at_most(middle - 1, n, quantile) <= tail:
            low = middle
        else:
            high = middle
    return low


def share_interval(found: int, of: int, *, confidence: float = 0.95) -> Interval:
    """Share of `of` trials, from 0 to 1, with its exact binomial interval."""
    tail = (1 - confidence) / 2
    # The smallest share at which so many found, or more, are no surprise; and the largest for so many, or fewer.
    low = _least_share(lambda share: 1 - binomial_at_most(found - 1, of, share) >= tail) if found else 0.0
    high = _least_share(lambda share: binomial_at_most(found, of, share) <= tail) if found < of else 1.0
    return Interval(found / of, low, high, confidence)


def _least_share(holds: Callable[[float], bool]) -> float:
    """The least share from which on it holds, by halving."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def finite(values: ArrayLike | Sequence[float]) -> Floats:
    sample = np.asarray(values, dtype=np.float64).ravel()
    if not np.isfinite(sample).all():
        raise ValueError("the sample has values that are NaN or infinite")
    return sample
