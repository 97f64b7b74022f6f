from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup, escape

from assay.report.svg.axis import Axis
from assay.report.svg.linear_ticks import linear_ticks
from assay.report.svg.tick import Tick
from assay.report.svg.time_ticks import time_ticks

_CHARACTER, _APART, _MARGIN = 7, 8, 8
"""Pixels of a digit in the widest of the usual fonts, between two labels, and to the right of the box."""
_NARROW, _WIDE = 190, 420
"""Pixels that the box has at least on a phone, and on a page where all labels are shown."""


@dataclass(frozen=True)
class TickRow:
    """The labels under a box. Nothing is measured where it is drawn, so those that fit on a phone are chosen before."""

    ticks: tuple[Tick, ...]
    left: int
    """Characters of room beside the box."""
    time: bool = False
    """Whether it is a time axis: each label then has a place of its own, since months differ; otherwise all are a step
    apart."""

    @classmethod
    def of(cls, axis: Axis, time: bool, left: int, most: int) -> TickRow:
        found = cls((), left)
        for count in range(most, 1, -1):
            found = cls(tuple(time_ticks(axis, count) if time else linear_ticks(axis, count)), left, time)
            if found._apart(found.ticks, _WIDE, found.narrow()):
                break
        return found

    def narrow(self) -> tuple[Tick, ...]:
        """Those that are shown on a phone too."""
        for stride in range(1, len(self.ticks)):
            shown = self.ticks[::stride]
            if self._apart(shown, _NARROW, shown):
                return shown
        return self.ticks[:1]

    def html(self) -> Markup:
        narrow = self.narrow()
        return Markup(f'<div class="x">{"".join(self._label(tick, tick in narrow) for tick in self.ticks)}</div>')

    @property
    def two_lines(self) -> bool:
        return any(tick.under for tick in self.ticks)

    def _label(self, tick: Tick, narrow: bool) -> str:
        kinds = " ".join(kind for kind in ("" if narrow else "wide", self._side(tick, narrow)) if kind)
        named = f' class="{kinds}"' if kinds else ""
        place = f' style="left:{percent(tick.at)}%"' if self.time else ""
        under = f"<br/>{escape(tick.under)}" if tick.under else ""
        return f"<i{named}{place}>{escape(tick.label)}{under}</i>"

    def _side(self, tick: Tick, narrow: bool) -> str:
        """A label in the middle under its tick would be cut off at either end."""
        width, half = _NARROW if narrow else _WIDE, tick.width * _CHARACTER / 2
        if (1 - tick.at) * width + _MARGIN < half:
            return "end"
        return "start" if tick.at * width + self.left * _CHARACTER < half else ""

    def _apart(self, ticks: Sequence[Tick], width: int, narrow: Sequence[Tick]) -> bool:
        ends = []
        for tick in ticks:
            size = tick.width * _CHARACTER
            start = tick.at * width - {"end": size, "start": 0}.get(self._side(tick, tick in narrow), size / 2)
            ends.append((start, start + size))
        return all(before[1] + _APART <= after[0] for before, after in pairwise(ends))


def percent(share: float, digits: int = 2) -> str:
    return f"{share * 100:.{digits}f}".rstrip("0").rstrip(".")
