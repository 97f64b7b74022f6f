from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

_WIDTH, _HEIGHT, _PAD = 120, 16, 5


def dots_svg(values: Sequence[float], low: float, high: float, label: str) -> Markup:
    """One dot a run on a line from the lowest to the highest, a bar from `low` to `high` beneath."""
    least, most = min([*values, low]), max([*values, high])
    span = (most - least) or 1.0

    def x(value: float) -> float:
        return _PAD + (value - least) / span * (_WIDTH - 2 * _PAD)

    shown = values if len(values) <= 60 else values[:: len(values) // 60 + 1]
    # Lines without length and with round ends: dots in a fraction of the text that circles take.
    dots = "".join(f"M{x(value):.1f} 8h0" for value in shown)
    return Markup(
        f'<svg class="dots" role="img" aria-label="{escape(label)}" viewBox="0 0 {_WIDTH} {_HEIGHT}">'
        f'<rect x="{x(low):.1f}" y="4" width="{max(1.0, x(high) - x(low)):.1f}" height="8" rx="2"/>'
        f'<path d="{dots}"/></svg>'
    )
