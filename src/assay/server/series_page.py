"""One metric of one fingerprint over time: levels and their noise, what changed beside it, and the commits between."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from markupsafe import Markup

from assay.analysis.conditions import Difference, environment_differences
from assay.analysis.series_changes import ChangePoint, Level, commits_between, levels, series_changes
from assay.errors import AssayError
from assay.history import History, Point, Series
from assay.history.rows import microseconds
from assay.record import Fingerprint, SessionFolder
from assay.report.exhibits.plots import Plot
from assay.report.quantity import quantity
from assay.report.svg.axes import Axis
from assay.report.svg.lines import SIDE, line_chart
from assay.server.address import Asked, NotThere, number_asked
from assay.server.session_store import Store

TREND = 1000
"""Values that are shown unless `last` asks for more or fewer."""
_NOISE = 2.0
"""Standard deviations on either side of a level: 19 of 20 sessions of quiet noise lie within."""
_MAD_TO_SIGMA = 1.4826
_ASKED_OF_GIT = 5
"""Change points whose commits git is asked for."""


@dataclass(frozen=True)
class Stretch:
    """Sessions at one level."""

    first: float
    last: float
    """Seconds since 1970."""
    level: float
    low: float
    high: float


@dataclass(frozen=True)
class EnvironmentChange:
    at: str
    session: str
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class SeriesShown:
    series: Series
    fingerprint: Fingerprint | None
    points: tuple[Point, ...]
    changes: tuple[ChangePoint, ...]
    commits: dict[str, tuple[str, ...]]
    """Commits that may have caused each change, as `<hash> <subject>` where git knows them; by session of the change
    point."""
    environments: tuple[EnvironmentChange, ...]
    others: tuple[tuple[Series, tuple[str, ...]], ...]
    """The same metric under other fingerprints, and why they are not one series."""

    @property
    def plot(self) -> Plot:
        values = tuple(point.value for point in self.points)
        return Plot(
            title=self.series.metric,
            unit=self.series.unit or "",
            x=tuple(_seconds(point.started_at) for point in self.points),
            lines=((self.series.metric, values),),
            says=self._words(values),
            x_name="UTC",
            time=True,
            zero=False,
            marks=tuple(_seconds(change.at) for change in self.changes),
            tall=True,
        )

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        return tuple(_stretches(levels(self.points), [change.index for change in self.changes]))

    @property
    def drawing(self) -> Markup:
        """The line chart, with levels, their noise and changes of the environment put behind its line."""
        drawn, opening, rest = str(line_chart(self.plot)).partition("<svg")
        attributes, end, inside = rest.partition(">")
        return Markup(drawn + opening + attributes + end + self._behind() + inside)

    def _behind(self) -> str:
        plot = self.plot.sort()
        across = Axis.of(plot.x, time=True)
        up = Axis.of([value for _, line in plot.lines for value in line if value is not None], pad=0.08)

        def x(at: float) -> int:
            return round(across.share(at) * SIDE)

        def y(value: float) -> int:
            return round((1 - up.share(value)) * SIDE)

        bands = "".join(
            f"M{x(one.first)} {y(one.high)}H{x(one.last)}V{y(one.low)}H{x(one.first)}z" for one in self.stretches
        )
        steps = "".join(f"M{x(one.first)} {y(one.level)}H{x(one.last)}" for one in self.stretches)
        ticks = "".join(f"M{x(_seconds(one.at))} {SIDE}v-45" for one in self.environments)
        parts = (("noise", bands), ("level", steps), ("environment", ticks))
        return "".join(f'<path class="{name}" d="{path}"/>' for name, path in parts if path)

    @property
    def selectable(self) -> dict[str, Any]:
        """What the page's script says of two points: kept short, because there are a thousand."""
        known: dict[str, int] = {}
        commits = [
            known.setdefault(point.git_commit[:10], len(known)) if point.git_commit else -1 for point in self.points
        ]
        return {
            "sessions": [point.session for point in self.points],
            "commits": commits,
            "names": list(known),
            "unit": self.series.unit or "",
            "environments": [
                [_seconds(one.at), ", ".join(str(difference) for difference in one.differences[:6])]
                for one in self.environments
            ],
        }

    def _words(self, values: tuple[float, ...]) -> str:
        there = [value for value in values if math.isfinite(value)]
        if not there:
            return "no values"
        lowest, highest, latest = (quantity(value, self.series.unit) for value in (min(there), max(there), there[-1]))
        days = " to ".join(dict.fromkeys(point.started_at[:10] for point in (self.points[0], self.points[-1])))
        return f"{len(there)} values of {days}, lowest {lowest}, highest {highest}, latest {latest}"


def series(store: Store, asked: Asked) -> SeriesShown:
    with store.history() as history:
        one = history.series_by_id(number_asked(asked, "id")) if history else None
        if history is None or one is None:
            raise NotThere(f"there is no series {asked.get('id', '')!r}")
        points = history.points(one.id, limit=number_asked(asked, "last") or TREND)
        mark = history.fingerprint(one.fingerprint)
        others = []
        for other in history.series(entry=one.entry, metric=one.metric):
            theirs = history.fingerprint(other.fingerprint)
            if other.id != one.id and mark and theirs:
                others.append((other, tuple(theirs.differences(mark))))
        changes = series_changes(one, points)
        environments = tuple(_environment_changes(history, points))
    repository = _repository(store, points)
    commits = {
        change.session: tuple(commits_between(change.commit_before, change.commit_after, repository))
        for change in changes[-_ASKED_OF_GIT:]
    }
    return SeriesShown(one, mark, tuple(points), tuple(changes), commits, environments, tuple(others))


def _repository(store: Store, points: Sequence[Point]) -> Path:
    """Where the newest session's first file is, which is in the repository it measures; otherwise the results."""
    for session in list(dict.fromkeys(point.session for point in reversed(points)))[:3]:
        try:
            files = SessionFolder(store.results_dir / session).info().config_files
        except (AssayError, OSError, ValueError):
            continue
        folders = [Path(file).parent for file in files if Path(file).is_absolute() and Path(file).parent.is_dir()]
        if folders:
            return folders[0]
    return store.results_dir


def _environment_changes(history: History, points: Sequence[Point]) -> Iterator[EnvironmentChange]:
    first = {point.session: point.started_at for point in reversed(points)}
    known = history.environments(list(first))
    scripts = {point.session: point.script for point in points}
    old = dict(zip(list(known)[1:], [scripts[name] for name in known], strict=False))
    for (_, before), (session, after) in pairwise(known.items()):
        found = environment_differences(before, after)
        if old[session] and scripts[session] and old[session] != scripts[session]:
            found = (Difference("script", "benchmark script", old[session], scripts[session]), *found)
        if found:
            yield EnvironmentChange(first[session], session, found)


def _stretches(over_time: Sequence[Level], steps: Sequence[int]) -> Iterator[Stretch]:
    for first, end in pairwise([0, *steps, len(over_time)]):
        there = over_time[first:end]
        if there:
            level = median(one.value for one in there)
            sigma = _MAD_TO_SIGMA * median(abs(one.value - level) for one in there)
            begun, ended = _seconds(there[0].at), _seconds(there[-1].at)
            yield Stretch(begun, ended, level, level - _NOISE * sigma, level + _NOISE * sigma)


def _seconds(iso: str) -> float:
    return microseconds(iso) / 1e6
