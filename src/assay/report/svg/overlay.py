"""Two distributions over each other on one scale: what a metric was before, and what it is now.

The outline is a kernel density estimate (Gaussian, Silverman's rule of thumb: "Density Estimation for Statistics and
Data Analysis", 1986, 3.31); every value itself is a dot under it, so that few values are seen to be few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median, pstdev, quantiles

from markupsafe import Markup, escape

from assay.report.printable import printable
from assay.report.quantity import quantity
from assay.report.svg.axis import Axis
from assay.report.svg.linear_ticks import linear_ticks

_WIDTH, _TOP, _DOTS, _FOOT = 360, 58, 18, 14
_STEPS = 48
_MOST_DOTS = 60
_OUTLINED = 4
"""Values from which on an outline says more than their dots."""


def overlay_svg(before: Sequence[float], now: Sequence[float], unit: str | None, label: str) -> Markup:
    """Empty where one side has nothing."""
    if not before or not now:
        return Markup("")
    axis = Axis.of([*before, *now], pad=0.12)
    outlines = [_density(side, axis) if len(side) >= _OUTLINED else [] for side in (before, now)]
    most = max((height for outline in outlines for height in outline), default=0.0)
    drawn = "".join(
        f'<path class="{kind}" d="{_outline(heights, most)}"/>'
        for kind, heights in zip(("before", "now"), outlines, strict=True)
        if heights
    )
    top = _TOP if most else 0
    rows = zip(("before", "now"), (before, now), (top + 5, top + 13), strict=True)
    dots = "".join(f'<path class="{kind} dot" d="{_row(side, axis, y)}"/>' for kind, side, y in rows)
    middles = "".join(
        f'<path class="{kind} middle" d="M{axis.share(median(side)) * _WIDTH:.1f} 0V{top + _DOTS}"/>'
        for kind, side in (("before", before), ("now", now))
    )
    base = top + _DOTS
    return Markup(
        f'<svg class="overlay" role="img" aria-label="{escape(printable(label))}" '
        f'viewBox="0 0 {_WIDTH} {base + _FOOT}">{drawn}{middles}{dots}'
        f'<path class="axis" d="M0 {base}h{_WIDTH}"/>{_labels(axis, unit, base)}</svg>'
    )


def _density(values: Sequence[float], axis: Axis) -> list[float]:
    shares = [axis.share(value) for value in values]
    spread = pstdev(shares)
    low, _, high = quantiles(shares, n=4)
    sigma = min(spread, (high - low) / 1.34) or spread
    width = max(0.9 * sigma * len(shares) ** -0.2, 1 / _STEPS)
    return [
        math.fsum(math.exp(-(((at / _STEPS - share) / width) ** 2) / 2) for share in shares) / (len(shares) * width)
        for at in range(_STEPS + 1)
    ]


def _outline(heights: Sequence[float], most: float) -> str:
    tops = [round(_TOP - height / most * (_TOP - 4)) for height in heights]
    step = _WIDTH / _STEPS
    return f"M0 {_TOP}" + "".join(f"L{n * step:.0f} {y}" for n, y in enumerate(tops)) + f"L{_WIDTH} {_TOP}z"


def _row(values: Sequence[float], axis: Axis, y: int) -> str:
    shown = values if len(values) <= _MOST_DOTS else sorted(values)[:: len(values) // _MOST_DOTS + 1]
    return "".join(f"M{axis.share(value) * _WIDTH:.1f} {y}h0" for value in shown)


def _labels(axis: Axis, unit: str | None, base: int) -> str:
    low, high = axis.ends
    texts = []
    for tick in linear_ticks(axis, 4)[:4]:
        if 0.04 < tick.at < 0.96:
            words = quantity(float(f"{low + tick.at * (high - low):.6g}"), unit)
            anchor = "start" if tick.at < 0.15 else "end" if tick.at > 0.85 else "middle"
            x = tick.at * _WIDTH
            texts.append(
                f'<path class="axis" d="M{x:.0f} {base}v3"/>'
                f'<text x="{x:.0f}" y="{base + 12}" text-anchor="{anchor}">{escape(printable(words))}</text>'
            )
    return "".join(texts)
