from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from assay.report.svg.axis import Axis

_WIDTH, _HEIGHT, _PAD = 120, 16, 5
_MOST = 60


def dots_svg(values: Sequence[float], low: float, high: float, label: str, before: Sequence[float] = ()) -> Markup:
    """One dot a run on a line from the lowest to the highest, a bar from `low` to `high` beneath. Runs `before` are
    grey, above the others and on the same scale."""
    axis = Axis.of([*values, low, high, *before])
    y = 11 if before else 8

    def x(value: float) -> float:
        return _PAD + axis.share(value) * (_WIDTH - 2 * _PAD)

    def dots(side: Sequence[float], y: int) -> str:
        shown = side if len(side) <= _MOST else side[:: len(side) // _MOST + 1]
        # Lines without length and with round ends: dots in a fraction of the text that circles take.
        return "".join(f"M{x(value):.1f} {y}h0" for value in shown)

    earlier = f'<path class="before" d="{dots(before, 4)}"/>' if before else ""
    return Markup(
        f'<svg class="dots" role="img" aria-label="{escape(label)}" viewBox="0 0 {_WIDTH} {_HEIGHT}">'
        f'<rect x="{x(low):.1f}" y="{y - 4}" width="{max(1.0, x(high) - x(low)):.1f}" height="8" rx="2"/>'
        f'{earlier}<path d="{dots(values, y)}"/></svg>'
    )
