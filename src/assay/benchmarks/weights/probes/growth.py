"""Growth per operation from a series of readings: the slope of a straight line with its interval.

Ordinary least squares with Student's t. The first third is left out, since caches and pools fill there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.stats.distributions import t_quantile


@dataclass(frozen=True)
class Growth:
    per_operation: float
    low: float
    high: float

    @property
    def certain(self) -> bool:
        """The whole interval is above zero."""
        return self.low > 0


def growth(readings: Sequence[float], confidence: float = 0.95) -> Growth:
    y = np.asarray(readings[len(readings) // 3 :], dtype=np.float64)
    if y.size < 3:
        raise ValueError(f"growth needs at least five readings, not {len(readings)}")
    x = np.arange(y.size) - (y.size - 1) / 2
    spread = float(x @ x)
    slope = float(x @ y) / spread
    residual = float(np.sum((y - y.mean() - slope * x) ** 2))
    half = t_quantile((1 + confidence) / 2, y.size - 2) * (residual / (y.size - 2) / spread) ** 0.5
    return Growth(slope, slope - half, slope + half)
