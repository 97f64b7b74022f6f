"""Two distributions over each other on one scale: what a metric was before, and what it is now.

The outline is a kernel density estimate (Gaussian, Silverman's rule of thumb: "Density Estimation for Statistics and
Data Analysis", 1986, 3.31); every value itself is a dot under it, so that few values are seen to be few.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median, pstdev, quantiles

from markupsafe import Markup, escape

from assay.report.exhibits.plots import Plot
from assay.report.quantity import printable, quantity
from assay.report.svg.axes import Axis, Tick, TickRow, linear_ticks, percent

SIDE = 1000
"""Width and height of the box that is drawn in, in units."""
MOST_VALUES = 2000
_STRETCHES = 500

Place = tuple[int, int]
"""Place of a point: parts of a unit from the left, whole units from the top."""


@dataclass(frozen=True)
class Polyline:
    """A line as it is drawn: what follows on each other without a gap is one piece."""

    pieces: tuple[tuple[Place, ...], ...]
    parts: int = 1
    """Parts of a unit that places from the left count in: a wide chart shows more than a thousand places."""

    @classmethod
    def of(cls, x: Sequence[float], values: Sequence[float | None], across: Axis, up: Axis, parts: int = 1) -> Polyline:
        places = [
            (round(across.share(at) * SIDE * parts), None if value is None else round((1 - up.share(value)) * SIDE))
            for at, value in zip(x, values, strict=True)
        ]
        if len(places) > MOST_VALUES:
            places = list(_thin(places, SIDE * parts // _STRETCHES))
        pieces = []
        for there, group in groupby(places, key=lambda place: place[1] is not None):
            if there:
                pieces.append(tuple((left, top) for left, top in group if top is not None))
        return cls(tuple(pieces), parts)

    @property
    def line(self) -> str:
        """Each place as the way from the one before: half as long as where it is."""
        text = []
        for piece in self.pieces:
            (left, top), *rest = _without_flats(piece)
            if rest:
                text.append(f"M{self._across(left)} {top}l")
            for index, (x, y) in enumerate(rest):
                text.append(f"{' ' if index else ''}{self._across(x - left)}{'' if y < top else ' '}{y - top}")
                left, top = x, y
        return "".join(text)

    def dots(self, everywhere: bool) -> str:
        """Lines without length: their round ends stay round however the box is stretched. A value between two gaps has
        no line, and would not be seen without one."""
        shown = (place for piece in self.pieces if everywhere or len(piece) == 1 for place in piece)
        text, before = [], (0, 0)
        for left, top in shown:
            gap = "" if top < before[1] else " "
            text.append(f"m{self._across(left - before[0])}{gap}{top - before[1]}h0")
            before = left, top
        return "".join(text)

    def _across(self, number: int) -> str:
        return f"{number / self.parts:g}"


def _thin(places: Iterable[tuple[int, int | None]], width: int) -> Iterator[tuple[int, int | None]]:
    """The first, the lowest, the highest and the last of each stretch, so that no spike is lost. A gap inside a stretch
    is narrower than can be seen; one that reaches its edge is kept."""
    for _, group in groupby(places, key=lambda place: place[0] // width):
        stretch = list(group)
        there = [i for i, (_, top) in enumerate(stretch) if top is not None]
        tops = [top for _, top in stretch if top is not None]
        kept = {0, len(stretch) - 1}
        if there:
            kept |= {there[0], there[-1], there[tops.index(min(tops))], there[tops.index(max(tops))]}
        yield from (stretch[i] for i in sorted(kept))


def _without_flats(piece: Sequence[Place]) -> list[Place]:
    """Where a line stays as it is, its ends tell all."""
    inner = [b for a, b, c in zip(piece, piece[1:], piece[2:], strict=False) if not a[1] == b[1] == c[1]]
    return [piece[0], *inner, *piece[1:][-1:]]


_DOTS_BELOW = 30
_PAD = 0.08


def line_chart(plot: Plot) -> Markup:
    """Lines in a box that is stretched to whatever width there is, and labels beside it that keep their size: it needs
    no script to fit a phone, a page or a sheet of paper. Colours come from the style sheet around it."""
    plot = plot.sort()
    values = [value for _, line in plot.lines for value in line if value is not None]
    across = Axis.of(plot.x, time=plot.time)
    up = Axis.of(values, zero=plot.zero, pad=_PAD)
    heights = linear_ticks(up, 8 if plot.tall else 5) if values else []
    gutter = 1 + max((tick.width for tick in heights), default=1)
    row = TickRow.of(across, plot.time, gutter, 8 if plot.tall else 5) if values else TickRow((), gutter)
    kinds = "line-chart" + (" tall" if plot.tall else "") + (" dated" if row.two_lines else "")
    places = f"--g:{gutter}ch" + _steps("y", heights, up=True) + ("" if row.time else _steps("x", row.ticks))
    return Markup(
        f'<div class="{kinds}" style="{places}"{_ends(plot, across)} data-y="{_format_ends(up.ends)}">'
        f'<div class="area" role="img" aria-label="{_text(plot.title)}">'
        f'<svg viewBox="0 0 {SIDE} {SIDE}" preserveAspectRatio="none">'
        f"{_marks(plot, across)}{_lines(plot, across, up)}</svg>"
        f"{'' if values else '<span>no values</span>'}"
        f'<div class="y">{"".join(f"<i>{escape(tick.label)}</i>" for tick in heights)}</div>{row.html()}</div>'
        f"{_legend(plot)}</div>"
    )


def _steps(axis: str, ticks: Sequence[Tick], up: bool = False) -> str:
    """Where the first tick is and how far the next: a style for each of them was most of a small chart."""
    places = [1 - tick.at if up else tick.at for tick in ticks]
    if not places:
        return ""
    step = (places[-1] - places[0]) / (len(places) - 1) if len(places) > 1 else 0.0
    return f";--{axis}:{percent(places[0])};--d{axis}:{percent(step, 3)}"


def _ends(plot: Plot, across: Axis) -> str:
    """Said only where they are not the first and the last `x`."""
    return "" if plot.x[:1] + plot.x[-1:] == across.ends else f' data-x="{_format_ends(across.ends)}"'


def _format_ends(ends: tuple[float, float]) -> str:
    return " ".join(repr(end).removesuffix(".0") for end in ends)


def _marks(plot: Plot, across: Axis) -> str:
    path = "".join(f"M{across.share(mark) * SIDE:.1f} 0v{SIDE}" for mark in plot.marks if across.holds(mark))
    return f'<path class="mark" d="{path}"/>' if path else ""


def _lines(plot: Plot, across: Axis, up: Axis) -> str:
    """One group each; the style sheet colours them by their number."""
    drawn = [Polyline.of(plot.x, values, across, up, 10 if plot.tall else 1) for _, values in plot.lines]
    return "".join(f"<g>{_line(line, len(plot.x) < _DOTS_BELOW)}</g>" for line in drawn)


def _line(line: Polyline, everywhere: bool) -> str:
    path, dots = line.line, line.dots(everywhere)
    return (f'<path d="{path}"/>' if path else "") + (f'<path class="dots" d="{dots}"/>' if dots else "")


def _legend(plot: Plot) -> str:
    unit = f" ({_text(plot.unit)})" if plot.unit else ""
    names = "".join(f"<span>{_text(name)}{unit}</span> " for name, _ in plot.lines)
    return f"<p>{names}<span>{_text(plot.x_name)}</span></p>"


def _text(words: str) -> str:
    return str(escape(printable(words)))


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


_WIDE, _HEIGHT, _GAP = 160, 28, 3


def sparkline_svg(values: Sequence[float], label: str, steps: Sequence[int] = ()) -> Markup:
    """`steps`: places in `values` where a new level begins; a mark stands before each."""
    values = [value for value in values if math.isfinite(value)]
    if len(values) < 2:
        return Markup("")
    # Halves, because the span of two finite numbers may be none.
    low, high = min(values) / 2, max(values) / 2
    span = (high - low) or 1.0
    step = (_WIDE - 2 * _GAP) / (len(values) - 1)
    places = [
        (_GAP + i * step, _HEIGHT - _GAP - (value / 2 - low) / span * (_HEIGHT - 2 * _GAP))
        for i, value in enumerate(values)
    ]
    path = "M" + "L".join(f"{x:.0f} {y:.1f}" for x, y in places)
    x, y = places[-1]
    marked = "".join(f"M{places[at][0] - step / 2:.0f} 0v{_HEIGHT}" for at in steps if 0 < at < len(places))
    marks = f'<path class="step" d="{marked}"/>' if marked else ""
    return Markup(
        f'<svg class="spark" role="img" aria-label="{escape(printable(label))}" viewBox="0 0 {_WIDE} {_HEIGHT}">'
        f'{marks}<path d="{path}"/><circle cx="{x:.0f}" cy="{y:.1f}" r="2.5"/></svg>'
    )
