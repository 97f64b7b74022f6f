"""Student's t and the binomial without scipy, whose import costs more CPU than a whole comparison.

Both are the regularised incomplete beta function I_x(a, b), computed by its continued fraction (DLMF 8.17.22) with
the modified Lentz method; the fraction converges fast for x < (a+1)/(a+b+2), and DLMF 8.17.4 mirrors the rest.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, lgamma, log, log1p
from statistics import NormalDist

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
