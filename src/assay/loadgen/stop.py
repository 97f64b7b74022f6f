from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic_ns
from typing import TYPE_CHECKING

import numpy as np

from assay.loadgen.latency import Objective
from assay.loadgen.schedulers.scheduler import LoadScheduler
from assay.loadgen.shared_counters import OK, PIPELINE, STARTED_AT, STOP, Board
from assay.stats.early_stopping import min_passing, within_bound

if TYPE_CHECKING:
    from assay.loadgen.trace_file import Rows


@dataclass(frozen=True)
class Stop:
    """When the measured part ends: whichever comes first. Times are in seconds."""

    max_queries: int | None = None
    duration: float | None = None
    """No query is sent after this; those sent are finished."""
    timeout: float | None = None
    """Limit of the whole run, even if stages hang. Given alone, it is the duration."""
    percentile: float | None = None
    """End once enough queries were seen to state this latency percentile (MLPerf's early-stopping rule)."""
    min_duration: float = 0.0
    """Do not stop early, by `percentile`, before this."""
    on_request: bool = False
    """Go on until asked to stop: nothing above but `timeout` ends it."""

    def __post_init__(self) -> None:
        for name in ("max_queries", "duration", "timeout"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be greater than 0, not {value}")
        if self.percentile is not None and not 0 < self.percentile < 1:
            raise ValueError(f"percentile must lie between 0 and 1 (0.99 for p99), not {self.percentile}")

    @property
    def send_for(self) -> float | None:
        if self.on_request:
            return None
        if self.duration is None and self.max_queries is None and self.percentile is None:
            return self.timeout
        return self.duration

    @property
    def limit_is_failure(self) -> bool:
        return self.send_for != self.timeout


@dataclass(frozen=True)
class Warmup:
    """Load before the measured part, kept apart from it: `queries` one after the other, or `seconds` of the same
    load; with a scheduler, of that."""

    queries: int | None = None
    seconds: float | None = None
    scheduler: LoadScheduler | None = None

    def __post_init__(self) -> None:
        if self.queries is None and self.seconds is None:
            raise ValueError("a warm-up needs queries or seconds")


class EarlyStop:
    """Watches rows go by and asks the pipeline to stop once a percentile can be stated.

    With an objective, that is when the share within it is certain; without one, when enough queries were seen to bound
    the percentile from above.
    """

    def __init__(self, board: Board, stop: Stop, objectives: Sequence[Objective] = ()) -> None:
        self._board = board
        self._stop = stop
        self._bounds = [
            int(o.seconds * 1e9) for o in objectives if o.of == "latency" and o.percentile == stop.percentile
        ]
        self._over = [0] * len(self._bounds)
        self._total = 0

    def __call__(self, rows: Rows) -> None:
        percentile = self._stop.percentile
        if percentile is None:
            return
        queries = rows[(rows["stage"] == PIPELINE) & (rows["query"] >= 0) & (rows["status"] == OK)]
        self._total += len(queries)
        latency = queries["end"] - queries["intended"]
        for n, bound in enumerate(self._bounds):
            self._over[n] += int(np.count_nonzero(latency > bound))
        if (monotonic_ns() - self._board.page[STARTED_AT]) / 1e9 < self._stop.min_duration:
            return
        if self._bounds:
            enough = all(within_bound(over, self._total, percentile) for over in self._over)
        else:
            enough = self._total > min_passing(1, percentile)
        if enough:
            self._board.page[STOP] = 1
