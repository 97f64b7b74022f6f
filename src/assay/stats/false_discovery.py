"""Many questions at once: Benjamini & Hochberg's step-up procedure (J. R. Stat. Soc. B 57, 1995)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

RATE = 0.02
"""Aimed at, so that no more than 5% of what is called in a table is false: p-values of ten pairs in two modes are up to
twice too small (`make bench-truth`)."""
_CHOSEN = 10
"""Times that a p counts at most from which spikes were left out."""


def counted(p: float, left_out: int, rows: int) -> float:
    """A p as it counts among `rows`. Where runs were left out after looking at them (spikes), it is too small, and many
    rows have some that profit: it counts as often as there are rows, ten times at most."""
    return min(1.0, p * min(_CHOSEN, rows)) if left_out else p


def adjusted(p_values: Sequence[float]) -> list[float]:
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
