"""How often random signs give differences a mean as far from zero (Fisher, The Design of Experiments, 1935, §21).

Under identical code which of a pair is A is a coin toss, so this holds whatever the noise looks like. All patterns for
up to twelve differences, beyond that a fixed sample of them: the same data always give the same answer.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from assay.stats.intervals import Floats

_ALL = 12
_SAMPLED = 8192


def sign_flip_p(differences: Floats) -> float:
    sums = np.abs(_signs(differences.size) @ differences)
    return float(np.mean(sums >= abs(differences.sum()) * (1 - 1e-12)))


@lru_cache(maxsize=32)
def _signs(count: int) -> Floats:
    """Patterns of signs. The first sign is always plus: a pattern and its mirror image give the same size."""
    if count <= _ALL:
        patterns = np.arange(2 ** (count - 1))[:, None] >> np.arange(count - 1) & 1
    else:
        patterns = np.random.default_rng(count).integers(0, 2, (_SAMPLED, count - 1))
    return np.hstack([np.ones((len(patterns), 1)), 1.0 - 2.0 * patterns])
