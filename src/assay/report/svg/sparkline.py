from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

_WIDTH, _HEIGHT, _PAD = 160, 28, 3


def sparkline_svg(values: Sequence[float], label: str) -> Markup:
    if len(values) < 2:
        return Markup("")
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    step = (_WIDTH - 2 * _PAD) / (len(values) - 1)
    places = [
        (_PAD + i * step, _HEIGHT - _PAD - (value - low) / span * (_HEIGHT - 2 * _PAD))
        for i, value in enumerate(values)
    ]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    x, y = places[-1]
    return Markup(
        f'<svg class="spark" role="img" aria-label="{escape(label)}" viewBox="0 0 {_WIDTH} {_HEIGHT}">'
        f'<path d="{path}"/><circle cx="{x:.1f}" cy="{y:.1f}" r="2.5"/></svg>'
    )
