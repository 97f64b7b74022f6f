"""Where to cut a series so that its parts are flat: exact least squares with a price a cut.

Optimal partitioning (Jackson et al., "An algorithm for optimal partitioning of data on an interval", IEEE SPL 12, 2005)
with PELT pruning (Killick et al., JASA 107, 2012). It is what `ruptures.KernelCPD("linear")` computes (a test compares
them) without the second of CPU time that importing ruptures and scipy costs.
"""

from __future__ import annotations

import numpy as np

from assay.stats.intervals import Floats

MIN_SIZE = 3


def segment(series: Floats, penalty: float, min_size: int = MIN_SIZE) -> list[int]:
    n = series.size
    total = np.concatenate([[0.0], np.cumsum(series)])
    squares = np.concatenate([[0.0], np.cumsum(series**2)])
    best = np.full(n + 1, np.inf)
    best[0] = -penalty
    last = np.zeros(n + 1, dtype=np.intp)
    starts = np.array([0], dtype=np.intp)
    for end in range(min_size, n + 1):
        length = end - starts
        cost = best[starts] + squares[end] - squares[starts] - (total[end] - total[starts]) ** 2 / length
        at = int(np.argmin(cost))
        best[end] = cost[at] + penalty
        last[end] = starts[at]
        # A start that is already worse than the best by a penalty can never win again. The newest start becomes
        # usable once a whole segment fits behind it.
        starts = np.append(starts[cost <= best[end]], end - min_size + 1)
    cuts: list[int] = []
    at = int(last[n])
    while at > 0:
        cuts.append(at)
        at = int(last[at])
    return cuts[::-1]
