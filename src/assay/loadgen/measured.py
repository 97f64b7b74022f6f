from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.loadgen.board import OK, PIPELINE, TEST
from assay.loadgen.latency.objective import Of
from assay.loadgen.recording.spool import Rows

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Measured:
    """The rows of the measured part, looked at from different sides. Times are nanoseconds."""

    rows: Rows

    @classmethod
    def of(cls, rows: Rows) -> Measured:
        return cls(rows[(rows["query"] >= 0) & (rows["stage"] != TEST)])

    @cached_property
    def _pipeline(self) -> Rows:
        return np.asarray(self.rows[self.rows["stage"] == PIPELINE])

    @property
    def sends(self) -> Rows:
        """A row a query, answered or failed."""
        return self._pipeline

    @cached_property
    def queries(self) -> Rows:
        """Queries that were answered, in the order in which they ended."""
        rows = self._pipeline
        rows = rows[rows["status"] == OK]
        return np.asarray(rows[np.argsort(rows["end"], kind="stable")])

    @property
    def latency(self) -> Ints:
        return np.asarray(self.queries["end"] - self.queries["intended"])

    @property
    def from_send(self) -> Ints:
        return np.asarray(self.queries["end"] - self.queries["start"])

    @property
    def lateness(self) -> Ints:
        return np.asarray(self._pipeline["start"] - self._pipeline["intended"])

    def stage(self, stage: int) -> Ints:
        rows = self.rows[(self.rows["stage"] == stage) & (self.rows["status"] == OK)]
        return np.asarray(rows["end"] - rows["start"])

    def stream_times(self) -> dict[Of, Ints]:
        """Per answered query: latency, time to its first streamed result, time between its items; -1 without any."""
        order = self.queries["query"]
        rows = self.rows[self.rows["first"] > 0]
        first = np.full(len(order), -1, np.int64)
        gap = np.full(len(order), -1, np.int64)
        if len(rows) and len(order):
            # A query may stream in several stages; the last of them is what its user sees.
            rows = rows[np.argsort(rows["end"], kind="stable")]
            sorter = np.argsort(order, kind="stable")
            at = np.searchsorted(order, rows["query"], sorter=sorter)
            known = at < len(order)
            at, rows = sorter[at[known]], rows[known]
            same = order[at] == rows["query"]
            at, rows = at[same], rows[same]
            first[at] = rows["first"] - rows["intended"]
            gap[at] = (rows["end"] - rows["first"]) // np.maximum(rows["items"] - 1, 1)
        return {"latency": self.latency, "first_result": first, "per_item": gap}

    def groups(self, size: int) -> Ints:
        """Latencies of groups of `size` queries (multi-stream): that of a group's slowest query."""
        group = self.queries["query"] // size
        slowest = np.zeros(int(group.max()) + 1 if len(group) else 0, np.int64)
        np.maximum.at(slowest, group, self.latency)
        return slowest

    def over_depth(self, depth: int) -> int:
        """How many queries found `depth` others in flight when they were to be sent."""
        intended = np.sort(self._pipeline["intended"])
        ended = np.sort(self._pipeline["end"])
        in_flight = np.arange(len(intended)) - np.searchsorted(ended, intended, side="right")
        return int(np.count_nonzero(in_flight >= depth))
