from __future__ import annotations

from typing import Any

import numpy as np

from assay.loadgen.measured import Ints

_BINS = 60


def time_bins(values: Ints) -> dict[str, Any]:
    """A histogram with edges in seconds, equally far apart on a logarithmic scale; a last bin may hold one value."""
    if not len(values):
        return {"edges_s": [], "counts": []}
    low, high = max(int(values.min()), 1_000), max(int(values.max()), 1_001)
    if high <= low * 1.0001:
        return {"edges_s": [low / 1e9 * 0.999, high / 1e9 * 1.001], "counts": [len(values)]}
    edges = np.geomspace(low, high, _BINS + 1)
    edges[-1] = np.nextafter(float(high), np.inf)
    counts, _ = np.histogram(np.clip(values, low, high), edges)
    return {"edges_s": [float(f"{edge / 1e9:.6g}") for edge in edges], "counts": counts.tolist()}
