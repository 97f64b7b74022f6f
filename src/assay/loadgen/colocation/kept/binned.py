from __future__ import annotations

from typing import Any

import numpy as np

from assay.loadgen.colocation.slowdown.answers import Floats
from assay.loadgen.measured import Ints

MOST_BINS = 60
_A_DECADE = 20
"""Bins for each factor of ten, as long as they are not more than the most."""


def edges(*samples: Ints) -> Floats:
    """Edges of bins, in nanoseconds, equally wide on a logarithmic scale, that hold all values of all samples."""
    values = np.concatenate([np.empty(0, np.int64), *samples])
    if not len(values):
        return np.empty(0)
    low, high = np.log10(max(int(values.min()), 1)), np.log10(max(int(values.max()), 1) * 1.0001 + 1)
    bins = int(np.clip(np.ceil((high - low) * _A_DECADE), 1, MOST_BINS))
    return np.logspace(low, high, bins + 1)


def histogram(values: Ints, at: Floats) -> dict[str, Any] | None:
    if not len(values) or not len(at):
        return None
    counts, _ = np.histogram(np.maximum(values, 1), np.concatenate([[0.0], at[1:-1], [np.inf]]))
    return {"edges_us": [float(f"{edge / 1e3:.6g}") for edge in at], "counts": counts.tolist()}


def figures(values: Ints, shares: tuple[str, ...] = ("p50", "p99")) -> dict[str, float | None]:
    """Mean and percentiles in microseconds; None where nothing was measured."""
    names = {name: float(name[1:]) / 100 for name in shares}
    if not len(values):
        return {"mean_us": None, **{f"{name}_us": None for name in names}}
    found = np.quantile(values, list(names.values()), method="inverted_cdf")
    times = zip(names, found.tolist(), strict=True)
    return {"mean_us": float(values.mean()) / 1e3, **{f"{name}_us": float(value) / 1e3 for name, value in times}}
