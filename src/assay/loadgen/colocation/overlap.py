from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from assay.files.reading import USAGE, Unreadable, read_text

if TYPE_CHECKING:
    from assay.loadgen.colocation.colocation import GroupOutcome, PipelineOutcome


class UsageWindow:
    """The rows of usage.csv that belong to the measured time. Times are seconds from the start of the process."""

    def __init__(self, columns: Mapping[str, NDArray[np.float64]], begin: float, end: float) -> None:
        self._columns, self._begin, self._end = columns, begin, end
        self._t = columns.get("t_s", np.zeros(0))
        self._inside = (self._t >= begin) & (self._t <= end)
        self.count = int(self._inside.sum())

    @classmethod
    def read(cls, path: Path, begin: float, end: float) -> Self:
        """Reads the rows of the window. A last row that was not written whole is left out; where the disk was full, all
        are."""
        try:
            head, *rows = csv.reader(read_text(path, USAGE).splitlines())
        except (FileNotFoundError, Unreadable, ValueError):
            return cls({}, begin, end)
        whole = [row for row in rows if len(row) == len(head) and row[-1]]
        return cls({name: np.array([float(row[at]) for row in whole]) for at, name in enumerate(head)}, begin, end)

    def mean(self, name: str) -> float | None:
        known = self._values_inside(name)
        return float(known.mean()) if len(known) else None

    def highest(self, name: str) -> float | None:
        known = self._values_inside(name)
        return float(known.max()) if len(known) else None

    def growth(self, name: str, last: tuple[float, float] | None = None) -> float | None:
        """How much a running sum grew from the window's beginning to its end, interpolated linearly between samples.

        `last`: a time after the last row, and the sum at that time.
        """
        values = self._columns.get(name, np.zeros(0))
        known = ~np.isnan(values)
        at, sums = self._t[known], values[known]
        if last is not None:
            at, sums = np.append(at, last[0]), np.append(sums, last[1])
        if len(at) < 2:
            return None
        at_begin, at_end = np.interp([self._begin, self._end], at, sums)
        return float(at_end - at_begin)

    def _values_inside(self, name: str) -> NDArray[np.float64]:
        values = self._columns.get(name, np.zeros(0))
        inside = values[self._inside] if len(values) else values
        return np.asarray(inside[~np.isnan(inside)])


SHORT = 0.5
"""Share of a pipeline's run below which its time beside the others is called short."""
FEW = 20
"""Answers in the time together below which they are called few."""


@dataclass(frozen=True)
class Overlap:
    """The time in which all pipelines of a run were running. Times are seconds from the release."""

    outcome: GroupOutcome

    @property
    def release(self) -> int:
        """Instant of the release on the monotonic clock, in nanoseconds; the earliest start where none was kept."""
        return self.outcome.released_at or min(one.result.started_at for one in self.outcome.pipelines)

    @property
    def begin(self) -> float:
        return self.at(self.outcome.window[0])

    @property
    def end(self) -> float:
        return max(self.at(self.outcome.window[1]), self.begin)

    @property
    def seconds(self) -> float:
        return self.end - self.begin

    def at(self, clock: int) -> float:
        return (clock - self.release) / 1e9

    def span(self, pipeline: PipelineOutcome) -> tuple[float, float]:
        """A pipeline's start and its last answer; no time between them where it was never started."""
        begin = self.at(pipeline.result.started_at) if pipeline.result.started_at else 0.0
        return begin, begin + pipeline.result.duration

    def share(self, pipeline: PipelineOutcome) -> float:
        """Share of the pipeline's own run that the overlap covers, 0 to 1."""
        begin, end = self.span(pipeline)
        inside = min(end, self.end) - max(begin, self.begin)
        return min(max(inside / (end - begin), 0.0), 1.0) if end > begin else 0.0

    def count_answers(self, pipeline: PipelineOutcome) -> int:
        ends = pipeline.result.measured.queries["end"]
        begin, end = self.outcome.window
        return int(((ends >= begin) & (ends < max(end, begin))).sum())

    @property
    def warnings(self) -> list[str]:
        """Warnings about a short overlap or few answers in it; empty for a pipeline that ran alone."""
        if len(self.outcome.pipelines) < 2:
            return []
        if self.seconds <= 0:
            return ["the pipelines did not run at the same time: nothing is known of what they do to each other"]
        found = []
        for pipeline in self.outcome.pipelines:
            name, share, answered = pipeline.config.name, self.share(pipeline), self.count_answers(pipeline)
            if share < SHORT:
                length = pipeline.result.duration
                found.append(
                    f"the overlap is short: all ran together for {self.seconds:.3g} s, {share:.0%} of the "
                    f"{length:.3g} s that {name} ran"
                )
            if answered < FEW:
                found.append(f"few answers in the overlap: {answered} of {name}")
        return found
