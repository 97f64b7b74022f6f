from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from assay.report.exhibits.distribution import Distribution
from assay.report.exhibits.time_line import TimeScale
from assay.report.quantity import printable, quantity
from assay.report.svg.axes import Axis

_WIDTH, _HEIGHT, _FOOT = 360, 110, 18
_MARKED = ("p50", "p95", "p99", "p99.9")


def histogram_svg(shown: Distribution) -> Markup:
    most = max(one.count for one in shown.bins)
    step = _WIDTH / len(shown.bins)
    width = _short(max(1, step - 1))
    # One path for all bars: a bar of its own for each, with its figures, was half of a report.
    bars = "".join(
        # A bin with a single value in a sample of thousands must still be seen.
        f"M{_short(index * step)} {_HEIGHT}v-{_short(max(1.5, one.count / most * (_HEIGHT - 22)))}h{width}V{_HEIGHT}"
        for index, one in enumerate(shown.bins)
        if one.count
    )
    marks = [_mark(shown, name, value, step) for name, value in shown.percentiles if name in _MARKED]
    low, high = quantity(shown.bins[0].low, shown.unit), quantity(shown.bins[-1].high, shown.unit)
    ends = (
        f'<text x="0" y="{_HEIGHT + 14}">{escape(low)}</text>'
        f'<text x="{_WIDTH}" y="{_HEIGHT + 14}" text-anchor="end">{escape(high)}</text>'
    )
    label = f"{shown.metric}: {shown.count} samples"
    return Markup(
        f'<svg class="drawn" role="img" aria-label="{escape(label)}" viewBox="0 0 {_WIDTH} {_HEIGHT + _FOOT}">'
        f'<path class="bar" d="{bars}"/><path class="axis" d="M0 {_HEIGHT}h{_WIDTH}"/>'
        f"{''.join(marks)}{ends}</svg>"
    )


def _short(length: float) -> str:
    return f"{length:.1f}".removesuffix(".0")


def _mark(shown: Distribution, name: str, value: float, step: float) -> str:
    x = next(
        (
            (index + (value - one.low) / (one.high - one.low)) * step
            for index, one in enumerate(shown.bins)
            if one.low <= value <= one.high
        ),
        float(_WIDTH),
    )
    row = 9 + 11 * (_MARKED.index(name) % 2)
    anchor = "end" if x > _WIDTH - 40 else "start"
    return (
        f'<path class="mark" d="M{x:.1f} {row - 7}V{_HEIGHT}"/>'
        f'<text x="{x + (3 if anchor == "start" else -3):.1f}" y="{row}" text-anchor="{anchor}">{escape(name)}</text>'
    )


_DOTS_WIDTH, _DOTS_HEIGHT, _PAD = 120, 16, 5
_MOST = 60


def dots_svg(values: Sequence[float], low: float, high: float, label: str, before: Sequence[float] = ()) -> Markup:
    """One dot a run on a line from the lowest to the highest, a bar from `low` to `high` beneath. Runs `before` are
    grey, above the others and on the same scale."""
    axis = Axis.of([*values, low, high, *before])
    y = 11 if before else 8

    def x(value: float) -> float:
        return _PAD + axis.share(value) * (_DOTS_WIDTH - 2 * _PAD)

    def dots(side: Sequence[float], y: int) -> str:
        shown = side if len(side) <= _MOST else side[:: len(side) // _MOST + 1]
        # Lines without length and with round ends: dots in a fraction of the text that circles take.
        return "".join(f"M{x(value):.1f} {y}h0" for value in shown)

    earlier = f'<path class="before" d="{dots(before, 4)}"/>' if before else ""
    return Markup(
        f'<svg class="dots" role="img" aria-label="{escape(label)}" viewBox="0 0 {_DOTS_WIDTH} {_DOTS_HEIGHT}">'
        f'<rect x="{x(low):.1f}" y="{y - 4}" width="{max(1.0, x(high) - x(low)):.1f}" height="8" rx="2"/>'
        f'{earlier}<path d="{dots(values, y)}"/></svg>'
    )


_PAIR_WIDTH, _PAIR_HEIGHT = 300, 34


def two_distributions(alone: Sequence[float], beside: Sequence[float], scale: TimeScale, label: str) -> Markup:
    """One filled, the other as a line over it, both as shares of their calls; empty where there is neither.

    Stretched to the width there is: what stands under each other on one scale can be compared.
    """
    most = max([*alone, *beside], default=0.0)
    if not most > 0:
        return Markup("")
    decades = "".join(f"M{share * _PAIR_WIDTH:.0f} 0v{_PAIR_HEIGHT}" for share in scale.decades())
    filled = f'<path class="alone" d="{_outline(alone, most)}z"/>' if any(alone) else ""
    line = f'<path class="beside" d="{_outline(beside, most)}"/>' if any(beside) else ""
    return Markup(
        f'<svg class="two-distributions" role="img" aria-label="{escape(printable(label))}: distribution of calls" '
        f'viewBox="0 0 {_PAIR_WIDTH} {_PAIR_HEIGHT}" preserveAspectRatio="none">'
        f'<path class="decades" d="{decades}"/>{filled}{line}</svg>'
    )


def _outline(shares: Sequence[float], most: float) -> str:
    """Steps, from the first bin that holds something to the last."""
    held = [index for index, share in enumerate(shares) if share > 0]
    width = _PAIR_WIDTH / len(shares)
    text, before = f"M{held[0] * width:.0f} {_PAIR_HEIGHT}", float(_PAIR_HEIGHT)
    for index in range(held[0], held[-1] + 1):
        # A bin with a single call among thousands must still be seen.
        top = _PAIR_HEIGHT - (max(1.0, shares[index] / most * (_PAIR_HEIGHT - 2)) if shares[index] else 0.0)
        if top != before:
            text += f"V{top:.0f}"
        text += f"H{(index + 1) * width:.0f}"
        before = top
    return f"{text}V{_PAIR_HEIGHT}"
