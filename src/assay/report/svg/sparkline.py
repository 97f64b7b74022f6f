from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup, escape

from assay.report.printable import printable

_WIDTH, _HEIGHT, _PAD = 160, 28, 3


def sparkline_svg(values: Sequence[float], label: str, steps: Sequence[int] = ()) -> Markup:
    """`steps`: places in `values` where a new level begins; a mark stands before each."""
    values = [value for value in values if math.isfinite(value)]
    if len(values) < 2:
        return Markup("")
    # Halves, because the span of two finite numbers may be none.
    low, high = min(values) / 2, max(values) / 2
    span = (high - low) or 1.0
    step = (_WIDTH - 2 * _PAD) / (len(values) - 1)
    places = [
        (_PAD + i * step, _HEIGHT - _PAD - (value / 2 - low) / span * (_HEIGHT - 2 * _PAD))
        for i, value in enumerate(values)
    ]
    path = "M" + "L".join(f"{x:.0f} {y:.1f}" for x, y in places)
    x, y = places[-1]
    marked = "".join(f"M{places[at][0] - step / 2:.0f} 0v{_HEIGHT}" for at in steps if 0 < at < len(places))
    marks = f'<path class="step" d="{marked}"/>' if marked else ""
    return Markup(
        f'<svg class="spark" role="img" aria-label="{escape(printable(label))}" viewBox="0 0 {_WIDTH} {_HEIGHT}">'
        f'{marks}<path d="{path}"/><circle cx="{x:.0f}" cy="{y:.1f}" r="2.5"/></svg>'
    )
