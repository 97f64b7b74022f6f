"""One metric of one row of the grid: its last sessions, their steps, and how it is drawn."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup, escape

from assay.analysis.ranking import Ranking, Standing, pareto
from assay.analysis.rules import direction
from assay.analysis.series_changes import ChangePoint, levels, series_changes
from assay.history import History, Point, Series
from assay.record.metric import Better
from assay.report.quantity import printable, quantity
from assay.report.svg.axes import Axis, linear_ticks
from assay.report.text.series import change_size

COLOURS = 8
"""Number of colours in the style sheet: `--series-1` to `--series-8`."""


def colours(names: Iterable[str]) -> dict[str, int]:
    """A number from 1 a name. It follows from the name, so that a name keeps its colour from page to page and whatever
    else is shown; only of names that would share one, all but the first take the next that is free."""
    given: dict[str, int] = {}
    for name in names:
        if name in given:
            continue
        wanted = zlib.crc32(name.encode("utf-8", "replace")) % COLOURS
        taken = set(given.values())
        free = (at for step in range(COLOURS) if (at := (wanted + step) % COLOURS + 1) not in taken)
        given[name] = next(free, wanted + 1)
    return given


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
    made = trend_of(series, points)
    since = history.points(series.id, limit=len(points), since_accepted=True)
    if made is None or len(since) == len(points):
        return made
    steps = series_changes(series, since)
    return replace(made, last_step=steps[-1] if steps else None)


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


_WIDE, _HIGH = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 24, 24, 52


@dataclass(frozen=True)
class Scatter:
    """Two metrics of one entry against each other, a point a side, and the sides that no other beats in both."""

    x: Ranking
    y: Ranking
    letters: tuple[str, ...]
    """Letters of all sides."""
    colours: tuple[int, ...]

    @property
    def sides(self) -> list[int]:
        both = {one.side for one in self.x.standings} & {one.side for one in self.y.standings}
        return sorted(both)

    @property
    def front(self) -> list[int]:
        """Sides, in the order of `x`. Empty where nothing says which way is better."""
        if self.x.better is None or self.y.better is None:
            return []
        sides = self.sides
        best = pareto([self._place(side) for side in sides], (self.x.better, self.y.better))
        return sorted((sides[at] for at in best), key=lambda side: self._place(side)[0])

    def _place(self, side: int) -> tuple[float, float]:
        return _of(self.x, side).value, _of(self.y, side).value

    @property
    def best(self) -> str:
        """What the line through some of the points means, in words; empty where nothing says what is better."""
        front = [self.letters[side] for side in self.front]
        if not front:
            return ""
        if len(front) == 1:
            return f"{front[0]} is at least as good as every other in both"
        return f"joined: {', '.join(front)}, which no other beats in both"

    @property
    def says(self) -> str:
        told = [
            f"{self.letters[side]}: {self.x.metric} {quantity(_of(self.x, side).value, self.x.unit)}, "
            f"{self.y.metric} {quantity(_of(self.y, side).value, self.y.unit)}"
            for side in self.sides
        ]
        return "; ".join(told) + (f". {self.best}" if self.best else "")

    def drawing(self) -> Markup:
        across, up = _axis(self.x), _axis(self.y)

        def right(value: float) -> float:
            return round(_LEFT + across.share(value) * (_WIDE - _LEFT - _RIGHT), 1)

        def down(value: float) -> float:
            return round(_HIGH - _BOTTOM - up.share(value) * (_HIGH - _TOP - _BOTTOM), 1)

        parts = [_ticks(across, up)]
        front = [(right(x), down(y)) for x, y in (self._place(side) for side in self.front)]
        if len(front) > 1:
            parts.append(f'<path class="front" d="M{"L".join(f"{x} {y}" for x, y in front)}"/>')
        for side in self.sides:
            one, other = _of(self.x, side), _of(self.y, side)
            x, y = right(one.value), down(other.value)
            whiskers = _whisker(one, right, y, flat=True) + _whisker(other, down, x, flat=False)
            parts.append(
                f'<g class="c{self.colours[side]}">{whiskers}<circle cx="{x}" cy="{y}" r="9"/>'
                f'<text class="letter" x="{x}" y="{y + 4.5}" text-anchor="middle">{self.letters[side]}</text></g>'
            )
        middle = (_LEFT + _WIDE - _RIGHT) / 2
        parts.append(
            f'<text class="name" x="{middle}" y="{_HIGH - 8}" text-anchor="middle">{_axis_name(self.x)}</text>'
            f'<text class="name" x="4" y="14">{_axis_name(self.y)}</text>'
        )
        return Markup(
            f'<svg class="scatter" role="img" viewBox="0 0 {_WIDE} {_HIGH}" aria-label="{_text(self.says)}">'
            f"{''.join(parts)}</svg>"
        )


def _axis(ranking: Ranking) -> Axis:
    ends = [end for one in ranking.standings for end in (one.value, one.low, one.high) if end is not None]
    return Axis.of(ends, pad=0.12)


def _of(ranking: Ranking, side: int) -> Standing:
    return next(one for one in ranking.standings if one.side == side)


def _whisker(one: Standing, place: Callable[[float], float], at: float, *, flat: bool) -> str:
    if one.low is None or one.high is None:
        return ""
    low, high = place(one.low), place(one.high)
    return (
        f'<path class="whisker" d="M{low} {at}H{high}"/>' if flat else f'<path class="whisker" d="M{at} {low}V{high}"/>'
    )


def _ticks(across: Axis, up: Axis) -> str:
    parts = []
    for tick in linear_ticks(across, 6):
        x = round(_LEFT + tick.at * (_WIDE - _LEFT - _RIGHT), 1)
        parts.append(
            f'<path class="grid" d="M{x} {_TOP}V{_HIGH - _BOTTOM}"/>'
            f'<text x="{x}" y="{_HIGH - _BOTTOM + 16}" text-anchor="middle">{escape(tick.label)}</text>'
        )
    for tick in linear_ticks(up, 6):
        y = round(_HIGH - _BOTTOM - tick.at * (_HIGH - _TOP - _BOTTOM), 1)
        parts.append(
            f'<path class="grid" d="M{_LEFT} {y}H{_WIDE - _RIGHT}"/>'
            f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{escape(tick.label)}</text>'
        )
    return "".join(parts)


def _axis_name(ranking: Ranking) -> str:
    arrow = {"higher": " (more is better)", "lower": " (less is better)"}.get(ranking.better or "", "")
    return _text(f"{ranking.metric}{f', {ranking.unit}' if ranking.unit else ''}{arrow}")


def _text(words: str) -> str:
    return str(escape(printable(words)))


def scatter_of(
    rankings: Sequence[Ranking], entry: str, x: str, y: str, letters: Sequence[str], colours: Sequence[int]
) -> Scatter | None:
    """None where one of the two metrics is not measured on two sides."""
    of_entry = {one.metric: one for one in rankings if one.entry == entry}
    if x not in of_entry or y not in of_entry:
        return None
    made = Scatter(of_entry[x], of_entry[y], tuple(letters), tuple(colours))
    return made if len(made.sides) > 1 else None
