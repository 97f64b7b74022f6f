"""A straight line through points, by ordinary least squares, with Student's t interval for its slope."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from assay.stats.distributions import t_quantile


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
