"""Bring lone spikes back to their neighbourhood, so that one bad run neither hides nor makes a change of level.

A value is clipped to the running median of the seven values around it ± k·σ, where σ comes from the median absolute
difference of successive values: differences cancel a level or a drift, which a standard deviation counts as noise.
This is a Hampel filter (Pearson et al., EURASIP J. Adv. Signal Process. 2016:87) with a difference-based scale.
"""

from __future__ import annotations

import numpy as np

from assay.stats.intervals import Floats

WINDOW = 7
_MAD_TO_SIGMA = 1.4826


def difference_sigma(series: Floats) -> float:
    """The standard deviation of white noise on top of whatever the level does."""
    if series.size < 2:
        return 0.0
    return float(_MAD_TO_SIGMA * np.median(np.abs(np.diff(series))) / np.sqrt(2))


def running_median(series: Floats, window: int = WINDOW) -> Floats:
    half = window // 2
    padded = np.pad(series, half, mode="reflect" if series.size > half else "edge")
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, window), axis=1), dtype=np.float64)


def clip_spikes(series: Floats, sigmas: float = 2.0) -> Floats:
    if series.size < WINDOW:
        return series
    centre = running_median(series)
    reach = sigmas * difference_sigma(series)
    if reach == 0:
        # Most values are equal: there is no scale to call anything a spike by.
        return series
    return np.clip(series, centre - reach, centre + reach)
