"""Times of several runs in words: one unit and as many digits for all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from assay.report.quantity import duration

_STEPS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_BLOCKS = "▁▂▃▄▅▆▇█"
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


class TimeFormat:
    """The unit for times around their mean, and as many digits as their spread leaves meaning: two of that."""

    def __init__(self, seconds: Sequence[float]) -> None:
        self.mean = fmean(seconds)
        self.spread = stdev(seconds) if len(seconds) > 1 else 0.0
        self._unit_s, self.unit = next((step for step in _STEPS if self.mean >= step[0]), _STEPS[-1])
        most = _digits(self.mean / self._unit_s, 4)
        self._digits = min(most, max(1, _digits(self.spread / self._unit_s, 2))) if self.spread else most

    def bare(self, seconds: float) -> str:
        return f"{seconds / self._unit_s:.{self._digits}f}"

    def __call__(self, seconds: float) -> str:
        return f"{self.bare(seconds)} {self.unit}"


def _digits(value: float, meaning: int) -> int:
    """Digits after the point that show `meaning` digits of a value."""
    return max(0, meaning - 1 - math.floor(math.log10(value))) if value > 0 else 3


def plain_times(seconds: Sequence[float]) -> list[float]:
    """The times without impossible ones: records may come from anywhere."""
    return [time for time in seconds if time >= 0]


def mean_and_spread(seconds: Sequence[float]) -> str:
    """`412.6 ms ± 5.1 ms`: the mean and the standard deviation; of one run its time alone."""
    seconds = plain_times(seconds)
    if not seconds:
        return "–"
    scale = TimeFormat(seconds)
    if scale.mean < 60:
        return scale(scale.mean) + (f" ± {scale(scale.spread)}" if len(seconds) > 1 else "")
    spread = f"{scale.spread:.1f} s" if scale.spread < 60 else duration(scale.spread)
    return duration(scale.mean) + (f" ± {spread}" if len(seconds) > 1 else "")


def distribution(values: Sequence[float], width: int = 16) -> str:
    """How often values fell where between the least and the largest; an empty place is a space."""
    low, high = min(values), max(values)
    if len(values) < 3 or low == high:
        return ""
    counts = [0] * width
    for value in values:
        counts[min(width - 1, int((value - low) / (high - low) * width))] += 1
    top = max(counts)
    return "".join(_BLOCKS[math.ceil(count / top * 8) - 1] if count else " " for count in counts)


def bar(share: float, width: int) -> str:
    """A share of `width` columns, in eighths; whatever is above nothing can be seen."""
    eighths = max(1, round(min(1.0, share) * width * 8)) if share > 0 else 0
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8]


def progress_bar(share: float, width: int) -> str:
    done = min(width, int(share * width))
    return ("━" * done + ("╸" if 0 < share < 1 and done < width else "")).ljust(width)
