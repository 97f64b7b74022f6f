"""Where a series changed its level for good.

Logarithms, spikes clipped to a running median, then the exact least-squares segmentation (Jackson et al., "An algorithm
for optimal partitioning of data on an interval", IEEE SPL 12, 2005) with PELT pruning (Killick et al., JASA 107, 2012)
and a price a change point. It is what `ruptures.KernelCPD("linear")` computes (a test compares them) without the second
of CPU time that importing ruptures and scipy costs, so that it can run after every session.

The price is scaled by the noise and its autocorrelation, since a machine that drifts makes steps of its own. Both are
measured on what is left when the steps are taken out, beginning with the best single step and going on until the steps
found stay the same: measured on the raw series, a step would pass for correlation and hide itself.

A step smaller than `FLOOR` is not worth a person's time and is merged away. At 5% noise a step of 5% cannot be found
reliably by any method we tried; `make bench-truth` says how often.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from assay.stats.clipping import clip_spikes
from assay.stats.intervals import Floats, finite
from assay.stats.segmentation import MIN_SIZE, segment

FLOOR = 0.02
PRICE = 2.8
_MOST_CORRELATED = 0.9
_ROUNDS = 4


@dataclass(frozen=True)
class LevelChange:
    index: int
    """The first value at the new level."""
    ratio: float
    before: float
    after: float


def find_changes(series: ArrayLike, *, price: float = PRICE, floor: float = FLOOR) -> list[LevelChange]:
    """Values must be positive; a series shorter than two segments has no change points."""
    values = finite(series)
    if values.size < 2 * MIN_SIZE:
        return []
    if (values <= 0).any():
        raise ValueError("a series of ratios needs positive values")
    logs = np.log(values)
    clipped = clip_spikes(logs)
    cuts = _best_single(clipped)
    for _ in range(_ROUNDS):
        found = _merge_small(
            clipped, segment(clipped, price * _noise(clipped, cuts) * float(np.log(values.size))), floor
        )
        if found in (cuts, []):
            cuts = found
            break
        cuts = found
    levels = [float(np.exp(np.median(part))) for part in np.split(logs, cuts)]
    return [
        LevelChange(cut, after / before, before, after)
        for cut, (before, after) in zip(cuts, pairwise(levels), strict=True)
    ]


def _best_single(series: Floats) -> list[int]:
    n = series.size
    at = np.arange(MIN_SIZE, n - MIN_SIZE + 1)
    head = np.cumsum(series)[at - 1]
    gain = (head - at * series.mean()) ** 2 * n / (at * (n - at))
    return [int(at[np.argmax(gain)])]


def _noise(series: Floats, cuts: list[int]) -> float:
    """The long-run variance of AR(1) noise around the given steps."""
    left = np.concatenate([part - part.mean() for part in np.split(series, cuts)])
    n, segments = left.size, len(cuts) + 1
    square = float(left @ left)
    if square == 0:
        return 0.0
    measured = float(left[1:] @ left[:-1]) / square
    # Taking a mean out of each segment makes the rest look less correlated than it was (Marriott & Pope, 1954).
    rho = min(_MOST_CORRELATED, max(0.0, measured + (1 + 3 * measured) * segments / n))
    return square / (n - segments) * (1 + rho) / (1 - rho)


def _merge_small(series: Floats, cuts: list[int], floor: float) -> list[int]:
    kept = list(cuts)
    while kept:
        levels = [float(part.mean()) for part in np.split(series, kept)]
        steps = [abs(after - before) for before, after in pairwise(levels)]
        smallest = int(np.argmin(steps))
        if steps[smallest] >= np.log1p(floor):
            break
        del kept[smallest]
    return kept
