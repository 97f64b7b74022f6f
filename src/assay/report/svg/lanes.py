from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from assay.analysis.colocation.pipeline_run import BusySpan
from assay.report.exhibits.plots import Plot
from assay.report.exhibits.time_line import Lane, Stretch, TimeLine
from assay.report.page_templates import chart_style
from assay.report.quantity import printable
from assay.report.svg.axes import Axis, Tick, TickRow, percent
from assay.report.svg.lines import line_chart


def standalone(plot: Plot) -> Markup:
    """A chart that may stand anywhere, as in a notebook: with its own colours, light and dark, and nothing that would
    change what is around it."""
    unit = f" ({plot.unit})" if plot.unit else ""
    caption = f"{escape(printable(plot.title + unit))} <span>{escape(printable(plot.says))}</span>"
    return Markup(
        f'<figure class="line-chart-alone"><style>{chart_style(".line-chart-alone")}</style>'
        f"<figcaption>{caption}</figcaption>{line_chart(plot)}</figure>"
    )


_WIDE = 1000
_NAME, _APART = 20, 8
"""Pixels: of the line with a pipeline's name, and under its lane."""
_MOST_TICKS = 8
_LEVELS = 3


def lanes_svg(line: TimeLine) -> Markup:
    """A lane for each pipeline, a row in it for each stage; as wide as there is room, as high as it has rows."""
    across = Axis.of(line.ends)
    row = TickRow.of(across, False, 0, _MOST_TICKS)
    drawn, names, top = [], [], 0
    for lane in line.lanes:
        names.append(f'<b style="top:{top}px">{_text(lane.pipeline)}</b>')
        height = _NAME + len(lane.stages or (1,)) * _step(lane)
        drawn.append(_lane(lane, across, top))
        top += height + _APART
    shaded = _box(line.overlap, across, 0, top, "overlap") if line.overlap else ""
    return Markup(
        f'<div class="line-chart lanes" style="--g:0ch{_steps(row.ticks)}">'
        f'<div class="area" style="--height:{top}px" role="img" aria-label="{_text(_says(line))}">'
        f'<svg viewBox="0 0 {_WIDE} {top}" preserveAspectRatio="none">{shaded}{"".join(drawn)}</svg>'
        f'<div class="names">{"".join(names)}</div>{row.html()}</div></div>'
    )


def _steps(ticks: Sequence[Tick]) -> str:
    if not ticks:
        return ""
    step = (ticks[-1].at - ticks[0].at) / (len(ticks) - 1) if len(ticks) > 1 else 0.0
    return f";--x:{percent(ticks[0].at)};--dx:{percent(step, 3)}"


def _step(lane: Lane) -> int:
    """Pixels of a stage's row: a graph of twenty stages still fits."""
    return 11 if len(lane.stages) <= 6 else 7


def _lane(lane: Lane, across: Axis, top: int) -> str:
    step = _step(lane)
    height = _NAME + len(lane.stages or (1,)) * step
    text = [_box(lane.span, across, top + _NAME - 2, height - _NAME + 2, "span") if lane.span else ""]
    for number, stage in enumerate(lane.stages):
        middle = top + _NAME + number * step + step // 2
        # Lines as thick as their row: half of the text that boxes take. One for each strength of colour.
        for level in range(_LEVELS):
            bars = "".join(_bar(span, across, middle) for span in stage.busy if _level(span) == level)
            kinds = f"s{stage.colour} b{level}" + (" thin" if step < 10 else "")
            text.append(f'<path class="{kinds}" d="{bars}"/>' if bars else "")
    # Over the bars: a call that was under way when its pipeline was paused stands still as well.
    text += [_box(held, across, top + _NAME - 2, height - _NAME + 2, "held") for held in lane.held]
    for mark in lane.marks:
        kind = mark.action if mark.action in ("pause", "resume", "start", "delay") else "other"
        kind += " refused" if mark.refused else ""
        text.append(f'<path class="decision {kind}" d="M{across.share(mark.t) * _WIDE:.1f} {top + 2}v{height - 2}"/>')
    return "".join(text)


def _level(span: BusySpan) -> int:
    """How much of a bar's time its stage was at work, from hardly (0) to nearly all of it."""
    length = span.end - span.begin
    return min(_LEVELS - 1, int(span.busy_s / length * _LEVELS)) if length > 0 else _LEVELS - 1


def _bar(span: BusySpan, across: Axis, middle: int) -> str:
    left, right = across.share(span.begin) * _WIDE, across.share(span.end) * _WIDE
    # What is shorter than can be seen is drawn as the shortest that can.
    return f"M{left:.1f} {middle}h{max(0.7, right - left):.1f}"


def _box(stretch: Stretch, across: Axis, top: int, height: int, kind: str) -> str:
    left, right = (across.share(end) * _WIDE for end in stretch)
    return f'<rect class="{kind}" x="{left:.1f}" y="{top}" width="{max(0.7, right - left):.1f}" height="{height}"/>'


def _says(line: TimeLine) -> str:
    told = []
    for lane in line.lanes:
        ran = f" from {lane.span[0]:.3g} to {lane.span[1]:.3g} s" if lane.span else ""
        marks = f", {len(lane.marks)} decisions of the policy" if lane.marks else ""
        told.append(f"{lane.pipeline}{ran}{marks}")
    shared = f"; all together from {line.overlap[0]:.3g} to {line.overlap[1]:.3g} s" if line.overlap else ""
    return "Time line: " + "; ".join(told) + shared


def _text(words: str) -> str:
    return str(escape(printable(words)))
