from __future__ import annotations

from collections.abc import Sequence
from time import monotonic_ns

import numpy as np

from assay.loadgen.board import OK, PIPELINE, STARTED_AT, STOP, Board
from assay.loadgen.latency.objective import Objective
from assay.loadgen.recording.spool import Rows
from assay.loadgen.stop import Stop
from assay.stats.early_stopping import min_passing, within_bound


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
