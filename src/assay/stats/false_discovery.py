"""Many questions at once: Benjamini & Hochberg's step-up procedure (J. R. Stat. Soc. B 57, 1995)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

RATE = 0.02
"""Aimed at, so that no more than 5% of what is called in a table is false: p-values of ten pairs in two modes are up to
twice too small (`make bench-truth`)."""


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
