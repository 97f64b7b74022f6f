"""One metric of one row of the grid: its last sessions, their steps, and how it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from assay.analysis.changes.change_point import ChangePoint, levels, series_changes
from assay.analysis.direction import direction
from assay.history import History, Point, Series
from assay.record.metric import Better
from assay.report.printable import printable
from assay.report.quantity import quantity
from assay.report.text.change_text import change_size

SHOWN = 60
"""Sessions of a spark line."""
_LOOK_BACK = 250
"""Values in which steps are looked for: those of 250 sessions with one run each."""
_MOST = 3000
_WIDTH, _HEIGHT, _PAD = 120, 26, 3


@dataclass(frozen=True)
class Trend:
    series: int
    entry: str
    metric: str
    fingerprint: str
    unit: str | None
    better: Better | None
    latest: float
    """Level of the newest session."""
    latest_at: str
    sessions: int
    """How many are in `values`."""
    last_step: ChangePoint | None
    """The newest change of level among the sessions that were looked at."""
    drawing: Markup

    @property
    def says(self) -> str:
        """The change since the last step, in words."""
        step = self.last_step
        return f"{change_size(step)} since {step.at[:10]}" if step else "no step"

    @property
    def shown(self) -> str:
        return quantity(float(f"{self.latest:.4g}"), self.unit)


def trend(history: History, series: Series) -> Trend | None:
    """None where no value is a finite number."""
    points = history.points(series.id, limit=_LOOK_BACK)
    if len(points) == _LOOK_BACK and len({point.session for point in points}) < SHOWN:
        points = history.points(series.id, limit=_MOST)
    return trend_of(series, points)


def trend_of(series: Series, points: Sequence[Point]) -> Trend | None:
    over_time = levels(points)
    if not over_time:
        return None
    changes = series_changes(series, points)
    first = max(0, len(over_time) - SHOWN)
    values = [level.value for level in over_time[first:]]
    steps = [change.index - first for change in changes if change.index > first]
    last = changes[-1] if changes else None
    better = direction(series.metric, series.unit, series.better)
    label = f"{series.metric} over {len(values)} sessions" + (f", {len(steps)} steps" if steps else "")
    return Trend(
        series.id, series.entry, series.metric, series.fingerprint, series.unit, better, values[-1],
        over_time[-1].at, len(values), last, spark(values, steps, label),
    )  # fmt: skip


def spark(values: Sequence[float], steps: Sequence[int], label: str) -> Markup:
    """Whole places, each as the way from the one before, because a page has hundreds of them."""
    low, high = min(values), max(values)
    across = (_WIDTH - 2 * _PAD) / max(1, len(values) - 1)

    def place(at: int) -> tuple[int, int]:
        share = (values[at] - low) / (high - low) if high > low else 0.5
        return round(_PAD + at * across), round(_HEIGHT - _PAD - share * (_HEIGHT - 2 * _PAD))

    places = [place(at) for at in range(len(values))]
    x, y = places[0]
    path = f"M{x} {y}"
    for right, down in places[1:]:
        path += f"l{right - x}{'' if down < y else ' '}{down - y}"
        x, y = right, down
    marks = "".join(f"M{round(_PAD + (at - 0.5) * across)} 0v{_HEIGHT}" for at in steps)
    marked = f'<path class="step" d="{marks}"/>' if marks else ""
    return Markup(
        f'<svg class="trend" role="img" aria-label="{escape(printable(label))}" viewBox="0 0 {_WIDTH} {_HEIGHT}">'
        f'{marked}<path d="{path}"/><circle cx="{x}" cy="{y}" r="2"/></svg>'
    )
