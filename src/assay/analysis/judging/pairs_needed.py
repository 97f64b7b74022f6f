from __future__ import annotations

import numpy as np

from assay.analysis.judging.judgement import judge
from assay.analysis.rules import DEFAULT_MARGIN
from assay.analysis.verdict import Verdict
from assay.stats.intervals import Floats

TRIED = (10, 20, 30, 40, 60, 80, 120, 160, 240)
SURE = 0.8
"""Share of the experiments that must call identical code equivalent."""
_EXPERIMENTS = 200


def pairs_needed(a: Floats, b: Floats, margin: float = DEFAULT_MARGIN) -> int | None:
    """How many pairs of identical code with this noise are called equivalent in eight of ten experiments; None if the
    most that is tried are not.

    Found by experiments, not by a formula: pairs are drawn from those measured, and their sides swapped at random,
    since identical code has no sides.
    """
    rng = np.random.default_rng(a.size)
    for count in TRIED:
        said = [_equivalent(rng, np.stack([a, b], axis=1), count, margin) for _ in range(_EXPERIMENTS)]
        if np.mean(said) >= SURE:
            return count
    return None


def _equivalent(rng: np.random.Generator, pairs: Floats, count: int, margin: float) -> bool:
    drawn = rng.permuted(pairs[rng.integers(0, len(pairs), count)], axis=1)
    a, b = drawn.T.tolist()
    return judge(a, b, paired=True, margin=margin).verdict is Verdict.EQUIVALENT
