from __future__ import annotations

import numpy as np

from assay.stats.biweight import deviation, middle
from assay.stats.intervals import Floats

SPIKE = 10.0
"""Median absolute deviations (6.7 standard deviations) beyond which a run is far from the others."""
MOST = 0.15
"""Largest share of runs that may be far from the others: more of them are no accident but how this program runs."""

Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]


def spikes(base: Floats, head: Floats) -> Flags:
    """Pairs with a run far from all others of its side, where the partner is not as far: something happened to one
    run."""
    mine, theirs = base - middle(base), head - middle(head)
    reach = SPIKE * deviation(np.concatenate([mine, theirs]), 0.0)
    apart = head - base
    centre = middle(apart)
    alone = np.abs(apart - centre) > SPIKE / np.sqrt(2) * deviation(apart, centre)
    far_base, far_head = (np.abs(mine) > reach) & alone, (np.abs(theirs) > reach) & alone
    few = far_base.sum() + far_head.sum() <= MOST * 2 * base.size
    return np.asarray((far_base | far_head) & few, dtype=np.bool_)
