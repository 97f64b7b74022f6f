from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from assay.report.exhibits.colocation.time_scale import TimeScale
from assay.report.printable import printable

_WIDTH, _HEIGHT = 300, 34


def two_distributions(alone: Sequence[float], beside: Sequence[float], scale: TimeScale, label: str) -> Markup:
    """One filled, the other as a line over it, both as shares of their calls; empty where there is neither.

    Stretched to the width there is: what stands under each other on one scale can be compared.
    """
    most = max([*alone, *beside], default=0.0)
    if not most > 0:
        return Markup("")
    decades = "".join(f"M{share * _WIDTH:.0f} 0v{_HEIGHT}" for share in scale.decades())
    filled = f'<path class="alone" d="{_outline(alone, most)}z"/>' if any(alone) else ""
    line = f'<path class="beside" d="{_outline(beside, most)}"/>' if any(beside) else ""
    return Markup(
        f'<svg class="two-distributions" role="img" aria-label="{escape(printable(label))}: distribution of calls" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none">'
        f'<path class="decades" d="{decades}"/>{filled}{line}</svg>'
    )


def _outline(shares: Sequence[float], most: float) -> str:
    """Steps, from the first bin that holds something to the last."""
    held = [index for index, share in enumerate(shares) if share > 0]
    width = _WIDTH / len(shares)
    text, before = f"M{held[0] * width:.0f} {_HEIGHT}", float(_HEIGHT)
    for index in range(held[0], held[-1] + 1):
        # A bin with a single call among thousands must still be seen.
        top = _HEIGHT - (max(1.0, shares[index] / most * (_HEIGHT - 2)) if shares[index] else 0.0)
        if top != before:
            text += f"V{top:.0f}"
        text += f"H{(index + 1) * width:.0f}"
        before = top
    return f"{text}V{_HEIGHT}"
