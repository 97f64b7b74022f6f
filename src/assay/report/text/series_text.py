"""Series of the history as printed text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from assay.analysis.changes.change_point import series_changes
from assay.history import Point, Series
from assay.record import Fingerprint
from assay.report.printable import printable
from assay.report.quantity import percent, quantity
from assay.report.text.change_text import change_commits, change_sessions, change_words
from assay.report.text.text_table import text_table

_BARS = "▁▂▃▄▅▆▇█"


def series_table(series: Sequence[Series]) -> str:
    if not series:
        return "no series: nothing that passed has been recorded (`assay history import` reads session folders)\n"
    rows: list[tuple[str, ...]] = [("entry", "metric", "values", "latest", "at", "better", "fingerprint")]
    rows += [
        (printable(s.entry), printable(s.metric), str(s.points), printable(quantity(s.latest, s.unit)),
         s.latest_at[:16].replace("T", " "), s.better or "–", s.fingerprint)
        for s in series
    ]  # fmt: skip
    return text_table(rows, right=(2, 3)) + "\n"


def trend(series: Series, fingerprint: Fingerprint | None, points: Sequence[Point], newest: int = 10) -> str:
    values = [point.value for point in points]
    better = f", {series.better} is better" if series.better else ""
    lines = [
        f"{printable(series.entry)} · {printable(series.metric)}{better} · {len(points)} of {series.points} values",
        f"  {sparkline(values)}",
        f"  {_range(values, series.unit)}",
    ]
    if fingerprint is not None:
        parts = f"params {fingerprint.params}, workload {fingerprint.workload}, {fingerprint.machine}"
        lines.append(f"  {series.fingerprint}: {printable(parts)}")
    for change in series_changes(series, points):
        levels = f"{quantity(change.before, series.unit)} → {quantity(change.after, series.unit)}"
        what = f"{change.verdict or 'changed'} {change_sessions(change)}: {levels}, {change_words(change)}"
        lines.append(f"  {printable(what)}; {printable(change_commits(change))}")
    middle = median(values)
    for point in points[-newest:]:
        known = middle > 0 and math.isfinite(middle)
        against = f"  {percent(point.value / middle)} against the median" if known else ""
        commit = f"  git {printable(point.git_commit)[:10]}" if point.git_commit else ""
        lines.append(
            f"  {point.started_at[:19].replace('T', ' ')}  {quantity(point.value, series.unit):>12}{commit}{against}"
            f"  {printable(point.session)}"
        )
    return "\n".join(lines) + "\n"


def _range(values: Sequence[float], unit: str | None) -> str:
    low, middle, high = (quantity(value, unit) for value in (min(values), median(values), max(values)))
    return f"lowest {low}, median {middle}, highest {high}"


def sparkline(values: Sequence[float], width: int = 100) -> str:
    """The newest `width` values as bars between their lowest and highest."""
    shown = list(values)[-width:]
    low, high = min(shown), max(shown)
    if high == low:
        return _BARS[3] * len(shown)
    return "".join(_BARS[min(7, int((value - low) / (high - low) * 8))] for value in shown)
