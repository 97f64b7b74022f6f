"""What pytest says at its end: the table, what changed, the gate, where the report is."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.files.json_text import shorten
from assay.pytest_plugin.fixture import MeasuredTest
from assay.pytest_plugin.options import SHOWN
from assay.pytest_plugin.recorder import Recorder
from assay.report.quantity import number, printable, round_quantity
from assay.report.text.screen import text_table

LEAST_TELLING = ("iterations", "iqr", "outliers", "max", "mean", "ops", "rounds", "min", "stddev")
"""Columns in the order in which a narrow terminal loses them; the median stays."""
NAME = 24
"""Characters of a name that columns make room for."""
_COUNTS = ((1e9, " G/s"), (1e6, " M/s"), (1e3, " k/s"), (0.0, " /s"))


@dataclass(frozen=True)
class SampleStatistics:
    """What the rounds of one test say. They describe this run alone; whether it differs from another is `compare`'s."""

    min: float
    max: float
    mean: float
    median: float
    stddev: float | None
    """None with fewer than two rounds."""
    iqr: float | None
    """Distance from the first quartile to the third."""
    outliers: int
    """Rounds beyond 3.5 robust standard deviations from the median."""
    rounds: int
    iterations: int

    @classmethod
    def of(cls, samples: Sequence[float], iterations: int) -> SampleStatistics:
        from assay.stats import find_outliers

        several = len(samples) > 1
        quartiles = statistics.quantiles(samples, n=4, method="inclusive") if several else []
        return cls(
            min(samples),
            max(samples),
            statistics.fmean(samples),
            statistics.median(samples),
            statistics.stdev(samples) if several else None,
            quartiles[2] - quartiles[0] if several else None,
            len(find_outliers(samples)),
            len(samples),
            iterations,
        )

    @property
    def ops(self) -> float:
        """Calls a second."""
        return 1 / self.mean if self.mean else float("inf")


@dataclass(frozen=True)
class ResultsTable:
    """What was timed, a table a group. Columns that somebody asked for are all shown, however wide that is."""

    columns: tuple[str, ...] | None = None
    sort: str = "median"
    group_by: str = "group"
    width: int = 80

    def lines(self, measurements: Sequence[MeasuredTest]) -> list[str]:
        timed = [one for one in measurements if one.samples]
        groups: dict[str, list[MeasuredTest]] = {}
        for one in timed:
            groups.setdefault(self._group(one), []).append(one)
        lines: list[str] = []
        dropped: dict[str, None] = {}
        for name, members in groups.items():
            heading = [printable(name)] if name else []
            table, lost = self._table(members)
            dropped |= dict.fromkeys(lost)
            lines += [*([""] if lines else []), *heading, *table]
        if dropped:
            lines.append(f"no room for {', '.join(dropped)}: widen the terminal, or choose by --assay-columns")
        return lines

    def _group(self, one: MeasuredTest) -> str:
        file, _, test = one.name.partition("::")
        if self.group_by == "group":
            return one.group or ""
        if self.group_by == "file":
            return file
        if self.group_by == "name":
            return test
        if self.group_by == "func":
            return test.partition("[")[0]
        if self.group_by == "param":
            return ", ".join(f"{key}={value}" for key, value in one.params.items())
        key = self.group_by.partition(":")[2]
        return f"{key}={one.params[key]}" if key in one.params else ""

    def _table(self, members: Sequence[MeasuredTest]) -> tuple[list[str], list[str]]:
        described = [(one, SampleStatistics.of(one.samples, one.iterations)) for one in members]
        if self.sort == "name":
            described.sort(key=lambda pair: _split_numbers(pair[0].name))
        else:
            best_first = -1 if self.sort == "ops" else 1
            described.sort(key=lambda pair: best_first * (getattr(pair[1], self.sort) or 0))
        names = _names([one for one, _ in described])
        shown = list(self.columns or SHOWN)
        room = min(NAME, max(map(len, names)))
        lost = []
        while (widths := _widths(described, shown)) + room > self.width and len(shown) > 1 and self.columns is None:
            lost.append(next(column for column in LEAST_TELLING if column in shown))
            shown.remove(lost[-1])
        names = [shorten(name, max(room, self.width - widths)) for name in names]
        rows: list[tuple[str, ...]] = [("test", *shown)]
        for name, (_, found) in zip(names, described, strict=True):
            rows.append((name, *(_cell(found, column) for column in shown)))
        # The empty last cell: text_table leaves its last column as long as it is.
        return text_table([(*row, "") for row in rows], right=range(1, len(shown) + 1)).splitlines(), lost


def _split_numbers(name: str) -> list[tuple[int, str]]:
    """Sort key of a name: `[9]` stands before `[10]`."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", name)]


def _widths(described: Sequence[tuple[MeasuredTest, SampleStatistics]], shown: Sequence[str]) -> int:
    return sum(2 + max(len(column), *(len(_cell(found, column)) for _, found in described)) for column in shown)


def _cell(found: SampleStatistics, column: str) -> str:
    value = getattr(found, column)
    if column in ("outliers", "rounds", "iterations"):
        return number(value)
    if column != "ops":
        return round_quantity(value, "s")
    scale, unit = next(step for step in _COUNTS if value >= step[0])
    return f"{round_quantity(value / scale if scale else value)}{unit}"


def _names(members: Sequence[MeasuredTest]) -> list[str]:
    """The test without its file, unless two files have one of that name; one that failed says so."""
    short = [one.name.partition("::")[2] or one.name for one in members]
    seen = Counter(short)
    names = [name if seen[name] == 1 else one.name for name, one in zip(short, members, strict=True)]
    return [printable(name) + (" (failed)" if one.failed else "") for name, one in zip(names, members, strict=True)]


def closing_lines(recorder: Recorder, table: ResultsTable) -> Iterator[str]:
    tables = table.lines(recorder.measurements)
    yield from tables
    changed = _answer(recorder)
    if tables and changed:
        yield ""
    yield from changed
    if recorder.problem:
        yield recorder.problem
        return
    if recorder.report is not None:
        yield f"report: {recorder.report}"


def _answer(recorder: Recorder) -> list[str]:
    if recorder.limit is not None and not recorder.problem:
        from assay.pytest_plugin.gate import gate_lines

        return gate_lines(recorder.gated, recorder.limit)
    from assay.analysis import summary_lines

    return summary_lines(recorder.comparison) if recorder.comparison else []


def not_measured(benchmarks: int) -> str:
    tests = "1 benchmark was" if benchmarks == 1 else f"{benchmarks} benchmarks were"
    return (
        f"{tests} called once and not measured: pytest-xdist runs tests side by side, and they would slow each other; "
        "measure with -n 0, or all the same with --assay-enable"
    )
