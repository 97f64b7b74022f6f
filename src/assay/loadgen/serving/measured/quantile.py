from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.loadgen.measured import Ints

SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


def quantiles(values: Ints, shares: Sequence[float]) -> list[float]:
    """Smallest value that at least this share of all do not exceed (nearest rank: no value that was not measured)."""
    if not len(values):
        return [float("nan")] * len(shares)
    ranks = [min(max(int(np.ceil(share * len(values) - 1e-9)), 1), len(values)) - 1 for share in shares]
    parted = np.partition(values, sorted(set(ranks)))
    return [float(parted[rank]) for rank in ranks]
