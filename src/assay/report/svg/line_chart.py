from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from assay.report.exhibits.plot import Plot
from assay.report.printable import printable
from assay.report.svg.axis import Axis
from assay.report.svg.linear_ticks import linear_ticks
from assay.report.svg.polyline import SIDE, Polyline
from assay.report.svg.tick import Tick
from assay.report.svg.tick_row import TickRow, percent

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
