from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from assay.analysis.comparing.ranking import Ranking, Standing, pareto
from assay.report.printable import printable
from assay.report.quantity import quantity
from assay.report.svg.axis import Axis
from assay.report.svg.linear_ticks import linear_ticks

_WIDTH, _HEIGHT = 640, 360
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
            return round(_LEFT + across.share(value) * (_WIDTH - _LEFT - _RIGHT), 1)

        def down(value: float) -> float:
            return round(_HEIGHT - _BOTTOM - up.share(value) * (_HEIGHT - _TOP - _BOTTOM), 1)

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
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        parts.append(
            f'<text class="name" x="{middle}" y="{_HEIGHT - 8}" text-anchor="middle">{_axis_name(self.x)}</text>'
            f'<text class="name" x="4" y="14">{_axis_name(self.y)}</text>'
        )
        return Markup(
            f'<svg class="scatter" role="img" viewBox="0 0 {_WIDTH} {_HEIGHT}" aria-label="{_text(self.says)}">'
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
        x = round(_LEFT + tick.at * (_WIDTH - _LEFT - _RIGHT), 1)
        parts.append(
            f'<path class="grid" d="M{x} {_TOP}V{_HEIGHT - _BOTTOM}"/>'
            f'<text x="{x}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{escape(tick.label)}</text>'
        )
    for tick in linear_ticks(up, 6):
        y = round(_HEIGHT - _BOTTOM - tick.at * (_HEIGHT - _TOP - _BOTTOM), 1)
        parts.append(
            f'<path class="grid" d="M{_LEFT} {y}H{_WIDTH - _RIGHT}"/>'
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
