from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.loadgen.board import OK
from assay.loadgen.colocation.build import build_scheduler
from assay.loadgen.colocation.colocation import PipelineOutcome
from assay.loadgen.measured import Ints
from assay.loadgen.recording.spool import Rows
from assay.loadgen.result import LoadResult

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Answers:
    """What one pipeline answered in one run. Times are nanoseconds from its own start."""

    result: LoadResult
    open_loop: bool

    @classmethod
    def of(cls, outcome: PipelineOutcome) -> Answers:
        return cls(outcome.result, build_scheduler(outcome.config).concurrency is None)

    @property
    def started_at(self) -> int:
        return self.result.started_at

    @cached_property
    def queries(self) -> Rows:
        """Answered queries, in the order in which they ended."""
        return self.result.measured.queries

    @cached_property
    def ends(self) -> Ints:
        return np.asarray(self.queries["end"] - self.started_at)

    @cached_property
    def _times(self) -> Floats:
        """The time at which 0, 1, 2, … answers were complete."""
        first = int(self.queries["start"].min()) - self.started_at
        return np.concatenate([[min(first, int(self.ends[0]))], self.ends]).astype(np.float64)

    def count_at(self, at: Floats) -> Floats:
        """How many answers were complete at each time, with the share of the one under way."""
        if not len(self.queries):
            return np.zeros(np.shape(at))
        return np.interp(at, self._times, np.arange(len(self._times), dtype=np.float64))

    def time_of(self, count: Floats) -> Floats:
        """When that many answers were complete."""
        return np.interp(count, np.arange(len(self._times), dtype=np.float64), self._times)

    @property
    def scheduled(self) -> bool:
        """Were queries spread over time by a schedule, or sent as fast as they were answered?"""
        intended = self.queries["intended"]
        return self.open_loop and len(intended) > 0 and int(intended.min()) < int(intended.max())

    @cached_property
    def by_id(self) -> Rows:
        return np.asarray(self.queries[np.argsort(self.queries["query"], kind="stable")])

    def in_window(self, begin: float, end: float) -> Rows:
        """Queries that were to be sent in the window, by id; of a load that is sent at once, those answered in it."""
        times = self.by_id["end"] if self.open_loop and not self.scheduled else self.by_id["intended"]
        at = times - self.started_at
        return np.asarray(self.by_id[(at >= begin) & (at < end)])

    def same_schedule(self, other: Answers) -> bool:
        """Was every query that both answered to be sent at the same time after the start?"""
        _, mine, theirs = np.intersect1d(self.by_id["query"], other.by_id["query"], return_indices=True)
        here = self.by_id["intended"][mine] - self.started_at
        there = other.by_id["intended"][theirs] - other.started_at
        return bool(np.array_equal(here, there))

    def calls(self, stage: int) -> Rows:
        """Calls of a stage that ended well, by query and, within one, by time."""
        rows = self.result.measured.rows
        rows = rows[(rows["stage"] == stage) & (rows["status"] == OK)]
        return np.asarray(rows[np.lexsort((rows["start"], rows["query"]))])


def nth_call(calls: Rows) -> Ints:
    """Number of earlier calls of the same query, for each call."""
    query = calls["query"]
    new = np.concatenate([[True], query[1:] != query[:-1]]) if len(query) else np.empty(0, np.bool_)
    at = np.arange(len(query))
    return np.asarray(at - np.maximum.accumulate(np.where(new, at, 0)) if len(query) else at)
