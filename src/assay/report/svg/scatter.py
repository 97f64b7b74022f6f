"""Stores as points: size across, speed up on a logarithmic scale, a line through those that none is better than."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from assay.report.quantity import number, printable

if TYPE_CHECKING:
    from assay.report.exhibits.weights import StorePoint


_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _FOOT = 420, 240, 46, 12, 12, 34


def scatter_svg(points: Sequence[StorePoint], colours: dict[str, int], label: str) -> Markup:
    """Towards the upper left is better: smaller and faster."""
    if not points:
        return Markup("")
    scale = _Scale(points)
    best = sorted((point for point in points if point.best), key=lambda point: point.size)
    line = "L".join(f"{scale.x(point.size):.0f} {scale.y(point.speed):.0f}" for point in best)
    front = f'<path class="front" d="M{line}"/>' if len(best) > 1 else ""
    small = "".join(
        f'<path class="s{colours[point.store] % 8} each" d="'
        + "".join(f"M{scale.x(size):.0f} {scale.y(speed):.0f}h0" for size, speed in point.each)
        + '"/>'
        for point in points
    )
    large = "".join(
        _point(point, scale, colours[point.store], under=bool(place % 2))
        for place, point in enumerate(sorted(points, key=lambda point: point.speed))
    )
    return Markup(
        f'<svg class="scatter" role="img" aria-label="{escape(printable(label))}" viewBox="0 0 {_WIDTH} {_HEIGHT}">'
        f"{scale.grid()}{small}{front}{large}</svg>"
    )


class _Scale:
    def __init__(self, points: Sequence[StorePoint]) -> None:
        sizes = [size for point in points for size, _ in point.each]
        speeds = [speed for point in points for _, speed in point.each]
        self.most = max(1.0, *sizes) * 1.05
        low, high = math.log10(min(speeds)), math.log10(max(speeds))
        margin = max(0.1, (high - low) * 0.08)
        self.low, self.high = low - margin, high + margin

    def x(self, size: float) -> float:
        return _LEFT + size / self.most * (_WIDTH - _LEFT - _RIGHT)

    def y(self, speed: float) -> float:
        share = (math.log10(speed) - self.low) / (self.high - self.low)
        return _HEIGHT - _FOOT - share * (_HEIGHT - _FOOT - _TOP)

    def grid(self) -> str:
        base = _HEIGHT - _FOOT
        lines, texts = [], []
        for share in (0.25, 0.5, 0.75, 1.0):
            x = self.x(share)
            lines.append(f"M{x:.0f} {_TOP}V{base}")
            texts.append(f'<text x="{x:.0f}" y="{base + 13}" text-anchor="middle">{share:.0%}</text>')
        for speed in _steps(self.low, self.high):
            y = self.y(speed)
            lines.append(f"M{_LEFT} {y:.0f}H{_WIDTH - _RIGHT}")
            texts.append(f'<text x="{_LEFT - 5}" y="{y + 3:.0f}" text-anchor="end">{number(speed)}</text>')
        texts.append(f'<text x="{_WIDTH - _RIGHT}" y="{base + 28}" text-anchor="end">size, of the plain bytes</text>')
        return f'<path class="axis" d="{"".join(lines)}M{_LEFT} {_TOP}V{base}H{_WIDTH - _RIGHT}"/>{"".join(texts)}'


def _steps(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten; powers alone where those would be too many."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    digits = (1, 2, 5) if high - low < 2 else (1,)
    found = [digit * 10.0**power for power in powers for digit in digits]
    return [step for step in found if low <= math.log10(step) <= high]


def _point(point: StorePoint, scale: _Scale, colour: int, under: bool) -> str:
    """`under`: its name stands lower than its circle, so that those of neighbours do not meet."""
    x, y = scale.x(point.size), scale.y(point.speed)
    left = x > _WIDTH * 0.6
    return (
        f'<circle class="s{colour % 8}{" best" if point.best else ""}" cx="{x:.0f}" cy="{y:.0f}" r="6"/>'
        f'<text class="name" x="{x + (-9 if left else 9):.0f}" y="{y + (13 if under else -6):.0f}" '
        f'text-anchor="{"end" if left else "start"}">{escape(printable(point.store))}</text>'
    )
