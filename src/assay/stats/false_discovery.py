"""Many questions at once: Benjamini & Hochberg's step-up procedure (J. R. Stat. Soc. B 57, 1995)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

RATE = 0.02
"""False discovery rate that is aimed at. Lower than the 5% that a table may have, because p-values of ten pairs in two
modes are up to twice too small (`make bench-truth`)."""
_CHOSEN = 10
"""Largest factor for a p from which spikes were left out."""


def count_among(p: float, left_out: int, rows: int) -> float:
    """The p that goes into the correction for `rows`. Where runs were left out after looking at them (spikes), p is too
    small, and with many rows some profit by chance: it is multiplied by the rows, at most ten times."""
    return min(1.0, p * min(_CHOSEN, rows)) if left_out else p


def adjust(p_values: Sequence[float]) -> list[float]:
    """Each p as the smallest false discovery rate at which it would still be a discovery, in the order given."""
    p = np.asarray(p_values, dtype=np.float64)
    if p.size == 0:
        return []
    order = np.argsort(p)
    scaled = p[order] * p.size / np.arange(1, p.size + 1)
    stepped = np.minimum.accumulate(scaled[::-1])[::-1]
    result = np.empty_like(p)
    result[order] = np.minimum(stepped, 1.0)
    return [float(value) for value in result]
