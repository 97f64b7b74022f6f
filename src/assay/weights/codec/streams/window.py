from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np
from numba import njit, types

from assay.weights.dtype import ElementType
from assay.weights.store import Tensor

MOST_CONTEXTS = 16
RUNS, RUN = 32, 128
"""Places in a large chunk that are sampled, and elements at each: every place costs a wait for memory."""
_RARE = 1 / 1024
_READ = [types.Array(getattr(types, f"uint{bits}"), 1, "C", readonly=True) for bits in (8, 16, 32)]


@dataclass(frozen=True)
class Window:
    """The exponents that have a context of their own."""

    below: int
    """The highest exponent below the window; it and all lower ones share context 0."""
    contexts: int


def window_of(base: Tensor, kind: ElementType) -> Window:
    """The highest exponents that are not rare, at most 15 of them, from a sample."""
    if not kind.exponent:
        return Window(0, 1)
    lowest, highest = _common(base, kind.mantissa, (1 << kind.exponent) - 1)
    if not highest:
        return Window(0, 1)
    lowest = max(lowest, highest - (MOST_CONTEXTS - 2), 1)
    return Window(lowest - 1, highest - lowest + 2)


@njit([types.UniTuple(types.int64, 2)(read, types.int64, types.int64) for read in _READ], nogil=True, cache=True)
def _common(base, mantissa, mask):  # type: ignore[no-untyped-def]
    """The lowest and the highest exponent that is not rare; 0 does not count."""
    counts = np.zeros(256, np.int64)
    size = base.shape[0]
    runs = RUNS if size > RUNS * RUN else 1
    length, taken = RUN if runs > 1 else size, 0
    for run in range(runs):
        start = (size - length) * run // max(1, runs - 1)
        for i in range(start, start + length):
            counts[(nb.uint32(base[i]) >> nb.uint32(mantissa)) & nb.uint32(mask)] += 1
            taken += 1
    lowest, highest = 0, 0
    for exponent in range(1, 256):
        if counts[exponent] > _RARE * taken:
            highest = exponent
            lowest = lowest or exponent
    return lowest, highest
