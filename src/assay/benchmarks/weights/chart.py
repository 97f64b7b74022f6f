from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from typing import Literal

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 300, 70, 20, 20, 60
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#7f7f7f")
"""Okabe and Ito's palette: told apart by people who do not see red and green alike."""


@dataclass(frozen=True)
class Series:
    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class Chart:
    """Bars take their labels from `ticks` and use x as a position; lines use both axes, `log` on logarithmic ones."""

    title: str
    unit: str
    series: tuple[Series, ...]
    kind: Literal["bars", "lines"] = "bars"
    ticks: tuple[str, ...] = ()
    log: bool = False
    x_title: str = ""

    def svg(self) -> str:
        scale = _Scale.of(self)
        marks = self._bars(scale) if self.kind == "bars" else self._lines(scale)
        legend = "".join(
            f'<rect x="{LEFT + 215 * i}" y="{HEIGHT - 16}" width="10" height="10" fill="{_colour(i)}"/>'
            f'<text x="{LEFT + 215 * i + 14}" y="{HEIGHT - 7}">{escape(series.name)}</text>'
            for i, series in enumerate(self.series)
        )
        return (
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(self.title)}">'
            f"{scale.grid()}{''.join(marks)}{legend}</svg>"
        )

    def _bars(self, scale: _Scale) -> list[str]:
        group = (WIDTH - LEFT - RIGHT) / max(1, len(self.ticks))
        bar = group * 0.8 / max(1, len(self.series))
        marks = []
        for i, series in enumerate(self.series):
            for x, y in zip(series.x, series.y, strict=True):
                left, top = LEFT + group * (x + 0.1) + bar * i, scale.y(y)
                marks.append(
                    f'<rect x="{left:.1f}" y="{top:.1f}" width="{bar:.1f}" height="{HEIGHT - BOTTOM - top:.1f}" '
                    f'fill="{_colour(i)}"><title>{escape(series.name)} {y:,.4g} {escape(self.unit)}</title></rect>'
                )
        for number, tick in enumerate(self.ticks):
            middle = LEFT + group * (number + 0.5)
            marks.append(
                f'<text x="{middle:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{escape(tick)}</text>'
            )
        return marks

    def _lines(self, scale: _Scale) -> list[str]:
        marks = []
        for i, series in enumerate(self.series):
            points = [(scale.x(x), scale.y(y)) for x, y in zip(series.x, series.y, strict=True)]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            marks.append(f'<polyline points="{path}" fill="none" stroke="{_colour(i)}" stroke-width="2"/>')
            for (x, y), value in zip(points, series.y, strict=True):
                note = f"<title>{escape(series.name)} {value:,.4g} {escape(self.unit)}</title>"
                marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{_colour(i)}">{note}</circle>')
        middle = (LEFT + WIDTH - RIGHT) / 2
        marks.append(
            f'<text x="{middle}" y="{HEIGHT - BOTTOM + 32}" text-anchor="middle">{escape(self.x_title)}</text>'
        )
        return marks


@dataclass(frozen=True)
class _Scale:
    low_x: float
    high_x: float
    low_y: float
    high_y: float
    log: bool
    lines: bool
    unit: str
    points: tuple[float, ...] = ()
    """Where a line's points are: the ticks of its x axis, unless there are too many."""

    @classmethod
    def of(cls, chart: Chart) -> _Scale:
        xs = [x for series in chart.series for x in series.x] or [0.0, 1.0]
        ys = [y for series in chart.series for y in series.y] or [0.0, 1.0]
        lines, points = chart.kind == "lines", tuple(sorted(set(xs)))
        if not chart.log:
            return cls(min(xs), max(xs), 0.0, max(*ys, 1e-12) * 1.05, False, lines, chart.unit, points)
        positive = [y for y in ys if y > 0] or [1.0]
        low, high = 10.0 ** floor(log10(min(positive))), 10.0 ** ceil(log10(max(positive)) + 1e-9)
        return cls(min(xs), max(xs), low, high if high > low else low * 10, True, lines, chart.unit, points)

    def x(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * self._share(value, self.low_x, self.high_x)

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * self._share(value, self.low_y, self.high_y)

    def _share(self, value: float, low: float, high: float) -> float:
        if high <= low:
            return 0.5
        if self.log:
            return min(1.0, max(0.0, (log10(max(value, low)) - log10(low)) / (log10(high) - log10(low))))
        return (value - low) / (high - low)

    def grid(self) -> str:
        parts = [f'<text x="4" y="12">{escape(self.unit)}</text>']
        for value in self._steps(self.low_y, self.high_y):
            y = self.y(value)
            parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:,.4g}</text>')
        for value in self._x_ticks() if self.lines else ():
            parts.append(
                f'<text x="{self.x(value):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{value:,.7g}</text>'
            )
        return "".join(parts)

    def _x_ticks(self) -> Sequence[float]:
        return self.points if len(self.points) <= 6 else self._steps(self.low_x, self.high_x)

    def _steps(self, low: float, high: float) -> Sequence[float]:
        if self.log:
            first, last = ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9)
            return [10.0**power for power in range(first, last + 1)]
        if high <= low:
            return [low]
        raw = (high - low) / 5
        step = next(f * 10 ** floor(log10(raw)) for f in (1, 2, 5, 10) if f * 10 ** floor(log10(raw)) >= raw)
        return [i * step for i in range(ceil(low / step), floor(high / step) + 1)]


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]
