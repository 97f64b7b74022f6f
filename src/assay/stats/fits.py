"""A straight line through points, by ordinary least squares, with Student's t interval for its slope."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log

import numpy as np
from numpy.typing import ArrayLike

from assay.stats.intervals import t_quantile


@dataclass(frozen=True)
class LineFit:
    slope: float
    low: float
    high: float
    intercept: float
    r_squared: float


def fit_line(x: ArrayLike, y: ArrayLike, *, confidence: float = 0.95) -> LineFit:
    """Needs two different x; of exactly two points the interval is infinite: nothing is left over."""
    at, found = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    dx = at - at.mean()
    spread = float(dx @ dx)
    slope = float(dx @ found) / spread
    intercept = float(found.mean()) - slope * float(at.mean())
    residual = float(np.sum((found - intercept - slope * at) ** 2))
    total = float(np.sum((found - found.mean()) ** 2))
    df = at.size - 2
    half = t_quantile((1 + confidence) / 2, df) * (residual / df / spread) ** 0.5 if df > 0 else inf
    return LineFit(slope, slope - half, slope + half, intercept, 1.0 - residual / total if total > 0 else 1.0)


# How cost grows with size: cost = coefficient · size^exponent, a straight line in log-log space.
#
# Least squares on the logarithms, with Student's t interval for the slope (Goldsmith, Aiken & Wilkerson, "Measuring
# empirical computational complexity", ESEC/FSE 2007, fit the same model to whole programs). Sizes should span a
# decade:
# over less, a log factor cannot be told from a power.


@dataclass(frozen=True)
class PowerLaw:
    exponent: float
    low: float
    high: float
    coefficient: float
    r_squared: float
    points: int
    confidence: float

    def predict(self, size: float) -> float:
        return self.coefficient * float(size**self.exponent)

    def grows_faster_than(self, exponent: float) -> bool:
        """Whether the whole interval of the exponent lies above this one, so that it is not noise."""
        return self.low > exponent

    def grows_slower_than(self, exponent: float) -> bool:
        return self.high < exponent


def fit_power_law(sizes: ArrayLike, costs: ArrayLike, *, confidence: float = 0.95) -> PowerLaw:
    """Needs two different positive sizes; of exactly two points the interval is infinite: there is no error to see."""
    x_raw, y_raw = np.asarray(sizes, dtype=np.float64).ravel(), np.asarray(costs, dtype=np.float64).ravel()
    if x_raw.size != y_raw.size:
        raise ValueError(f"{x_raw.size} sizes but {y_raw.size} costs")
    if not (np.isfinite(x_raw).all() and np.isfinite(y_raw).all() and (x_raw > 0).all() and (y_raw > 0).all()):
        raise ValueError("sizes and costs must be positive and finite: a power law has no logarithm elsewhere")
    if np.unique(x_raw).size < 2:
        raise ValueError("a power law needs at least two different sizes")
    line = fit_line(np.log(x_raw), np.log(y_raw), confidence=confidence)
    return PowerLaw(
        exponent=line.slope,
        low=line.low,
        high=line.high,
        coefficient=exp(line.intercept),
        r_squared=line.r_squared,
        points=int(x_raw.size),
        confidence=confidence,
    )


def parallel_efficiency(workers: ArrayLike, throughput: ArrayLike) -> float:
    """Speed-up of the largest number of workers over the smallest, as a share of what it would ideally be."""
    n, rate = np.asarray(workers, dtype=np.float64), np.asarray(throughput, dtype=np.float64)
    first, last = int(np.argmin(n)), int(np.argmax(n))
    return exp(log(rate[last] / rate[first]) - log(n[last] / n[first]))
