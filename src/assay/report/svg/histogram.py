from __future__ import annotations

from markupsafe import Markup, escape

from assay.report.exhibits.distribution import Distribution
from assay.report.quantity import quantity

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
