from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.loadgen.board import OK, PIPELINE, TEST
from assay.loadgen.colocation.policies.pipeline_state import ObjectiveState
from assay.loadgen.latency.objective import Objective
from assay.loadgen.measured import Ints, Measured
from assay.loadgen.recording.spool import DTYPE, Rows

_NEWEST = 32
_UNFINISHED = 1024
"""Streamed rows kept until their query is answered, which may be in the next batch of rows."""


class Recent:
    """The answers of the last `window_s` seconds, and at least the newest ones, of one pipeline."""

    def __init__(self, objectives: Sequence[Objective], window_s: float) -> None:
        self._objectives = tuple(objectives)
        self._window_ns = int(window_s * 1e9)
        self._ends: Ints = np.empty(0, np.int64)
        self._latencies: Ints = np.empty(0, np.int64)
        self._values: list[Ints] = [np.empty(0, np.int64) for _ in self._objectives]
        self._missed = [0] * len(self._objectives)
        self._judged = [0] * len(self._objectives)
        self._streamed: Rows = np.empty(0, DTYPE)

    def see(self, rows: Rows) -> None:
        """Rows as they come from the board; they are copied, as the ring is written again."""
        new = rows[(rows["query"] >= 0) & (rows["stage"] != TEST)]
        answers = new[(new["stage"] == PIPELINE) & (new["status"] == OK)]
        measured = Measured(np.concatenate([self._streamed, new]))
        streamed = measured.rows[measured.rows["first"] > 0]
        self._streamed = streamed[~np.isin(streamed["query"], answers["query"])][-_UNFINISHED:]
        if not len(answers):
            return
        self._ends = np.concatenate([self._ends, measured.queries["end"]])
        self._latencies = np.concatenate([self._latencies, measured.latency])
        values = measured.stream_times()
        for n, objective in enumerate(self._objectives):
            mine = values[objective.of]
            having = mine[mine >= 0]
            self._missed[n] += int(np.count_nonzero(having > objective.seconds * 1e9))
            self._judged[n] += len(having)
            self._values[n] = np.concatenate([self._values[n], mine])
        self._forget(int(self._ends[-1]))

    def _forget(self, now: int) -> None:
        old = min(int(np.searchsorted(self._ends, now - self._window_ns)), max(len(self._ends) - _NEWEST, 0))
        self._ends, self._latencies = self._ends[old:], self._latencies[old:]
        self._values = [values[old:] for values in self._values]

    def figures(self, now: int, started_at: int) -> tuple[float, float, float]:
        """Answers a second, and p50 and p99 of their latency in seconds."""
        recent = self._latencies[self._ends > now - self._window_ns]
        seconds = min(self._window_ns, max(now - started_at, 1)) / 1e9
        if not len(recent):
            return 0.0, float("nan"), float("nan")
        half, most = np.quantile(recent, (0.5, 0.99))
        return len(recent) / seconds, float(half) / 1e9, float(most) / 1e9

    def objectives(self, now: int, released_at: int) -> tuple[ObjectiveState, ...]:
        return tuple(self._state(n, now, released_at) for n in range(len(self._objectives)))

    def _state(self, n: int, now: int, released_at: int) -> ObjectiveState:
        objective, values = self._objectives[n], self._values[n]
        having = values >= 0
        recent = values[having & (self._ends > now - self._window_ns)]
        return ObjectiveState(
            objective=objective,
            recent_s=float(np.quantile(recent, objective.percentile)) / 1e9 if len(recent) else float("nan"),
            newest_s=tuple((values[having][-_NEWEST:] / 1e9).tolist()),
            newest_t=tuple(((self._ends[having][-_NEWEST:] - released_at) / 1e9).tolist()),
            missed=self._missed[n],
            judged=self._judged[n],
        )
