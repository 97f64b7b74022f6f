from __future__ import annotations

import math
from collections.abc import Sequence

from assay.stats.intervals import Interval, quantile_interval


def median_interval(values: Sequence[float], confidence: float = 0.95) -> Interval | None:
    """Interval of the median, from the ranks of the values; None where they are too few for one (fewer than six)."""
    interval = quantile_interval(list(values), 0.5, confidence=confidence)
    return interval if math.isfinite(interval.low) and math.isfinite(interval.high) else None
