from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from markupsafe import Markup

from assay.analysis.changes.change_point import ChangePoint, Level, levels, series_changes
from assay.history import Point, Series
from assay.report.quantity import quantity
from assay.report.svg.sparkline import sparkline_svg

SESSIONS = 30
"""Sessions drawn in a spark line, the newest."""
_RECENT = 8
"""Newest sessions in which a step still counts as the change of a metric that is said to have changed."""


@dataclass(frozen=True)
class ReportTrend:
    """A metric of an entry over the last sessions, the report's own last."""

    metric: str
    unit: str | None
    levels: tuple[Level, ...]
    """One a session, oldest first."""
    changes: tuple[ChangePoint, ...]
    """Where the level changed; `index` counts `levels`."""

    @classmethod
    def of(cls, series: Series, points: Sequence[Point], own: Level | None) -> ReportTrend:
        """`own`: level of the session itself, where the history does not hold it yet."""
        found = levels(points)
        if own is not None and all(level.session != own.session for level in found):
            found.append(own)
            points = [*points, Point(own.at, own.value, "", own.session, own.commit)]
        return cls(series.metric, series.unit, tuple(found), tuple(series_changes(series, points)))

    def spark(self, moved: bool = False) -> Markup:
        """`moved`: it changed in the last session itself, which no change point can tell from a spike yet."""
        first = max(0, len(self.levels) - SESSIONS)
        shown = self.levels[first:]
        if len(shown) < 2:
            return Markup("")
        steps = {change.index - first for change in self.changes if change.index > first}
        if moved and not any(step >= len(shown) - _RECENT for step in steps):
            steps.add(len(shown) - 1)
        return sparkline_svg([level.value for level in shown], self._words(shown, len(steps)), sorted(steps))

    def _words(self, shown: Sequence[Level], steps: int) -> str:
        first, last = (quantity(float(f"{level.value:.4g}"), self.unit) for level in (shown[0], shown[-1]))
        marked = "" if not steps else ", 1 step" if steps == 1 else f", {steps} steps"
        return f"{self.metric}, last {len(shown)} sessions: {first} to {last}{marked}"

    def levels_near(self, level: float) -> tuple[float, ...]:
        """Earlier sessions of one level, the one nearest to `level`: what a change of the last session is told by."""
        own = len(self.levels) - 1
        starts = [0, *(change.index for change in self.changes if 0 < change.index < own)]
        stretches = [[one.value for one in self.levels[a:b]] for a, b in pairwise([*starts, own])]
        return tuple(min((s for s in stretches if s), key=lambda s: abs(median(s) - level), default=()))
