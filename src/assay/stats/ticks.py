from __future__ import annotations

import numpy as np

from assay.stats.intervals import Floats

FEW = 3
"""Values per distinct value from which on a clock that steps is suspected."""
_FINE = 1e-3
"""Share of the values below which a step does not matter."""


def tick(base: Floats, head: Floats) -> float:
    """The step that values come in, as a share of them; 0 where there is none, or where noise is wider than it.

    Few distinct values that all are multiples of one number: a coarse timer, or a size in pages.
    """
    values = np.concatenate([base, head])
    distinct = np.unique(values)
    if distinct.size < 2 or values.size < FEW * distinct.size or (values <= 0).any():
        return 0.0
    step = _common(distinct)
    typical = min(float(np.median(base)), float(np.median(head)))
    noise = max(float(base.std()), float(head.std()))
    return step / typical if step > _FINE * typical and noise < step else 0.0


def _common(distinct: Floats) -> float:
    """The largest number of which all are multiples, by Euclid, with room for how floats are rounded."""
    step = float(distinct[0])
    for value in distinct[1:]:
        a, b = float(value), step
        while b > 1e-6 * float(distinct[-1]):
            a, b = b, a % b
            if abs(a - b) < 1e-6 * a:
                b = 0.0
        step = a
    return step
