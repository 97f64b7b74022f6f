from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from assay.analysis import Row, Verdict
from assay.analysis.comparing.comparison import OWN
from assay.report.earlier.earlier import Earlier
from assay.report.svg.overlay import overlay_svg
from assay.report.view import EntryView

_FEW = 4
"""Earlier runs below which the levels of earlier sessions say more."""
CHANGED = (Verdict.REGRESSED, Verdict.IMPROVED)


@dataclass(frozen=True)
class Moved:
    """A metric that changed, drawn: before and now on one scale, and over the last sessions."""

    overlay: Markup
    before: str
    """What the earlier values are: `6 runs`, `12 earlier sessions`."""
    now: str
    spark: Markup

    @classmethod
    def of(cls, row: Row, view: EntryView, earlier: Earlier) -> Moved:
        trend = earlier.trend(row.entry, row.metric)
        now = next((metric.values for metric in view.metrics() if metric.name == row.metric), ())
        before = earlier.values(row.entry, row.metric)
        what = _count(len(before), "run")
        levels = trend.levels_near(row.before) if trend and row.before is not None else ()
        if len(before) < _FEW and len(levels) > len(before):
            before, what = levels, _count(len(levels), "earlier session")
        runs = _count(len(now), "run")
        label = f"{row.entry} {row.metric}: before ({what}) and now ({runs}) on one scale"
        spark = trend.spark(moved=True) if trend else Markup("")
        return cls(overlay_svg(before, now, row.unit, label), what, runs, spark)


def most_telling(rows: Iterable[Row]) -> list[Row]:
    """What the program measures itself before what Assay measures of any, then the largest change."""
    return sorted(rows, key=lambda row: (row.metric in OWN, -abs(math.log(row.ratio)) if row.ratio else 0.0))


def _count(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
