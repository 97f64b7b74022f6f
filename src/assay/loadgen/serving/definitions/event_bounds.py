from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.loadgen.http.reading.deltas import Kind
from assay.loadgen.measured import Ints
from assay.loadgen.serving.measured.load_point import LoadPoint


@dataclass(frozen=True)
class EventBounds:
    """First and last event of each answered request that holds one of some kinds, and all gaps between such events.

    Nanoseconds; `request` is the place of each in the run. Requests without such an event are left out.
    """

    request: Ints
    first: Ints
    last: Ints
    gaps: Ints

    @classmethod
    def of(cls, point: LoadPoint, kinds: Kind) -> EventBounds:
        deltas = point.replies.deltas
        empty = np.empty(0, np.int64)
        if deltas is None:
            return cls(empty, empty, empty, empty)
        streamed = point.exchanges.rows["event_stream"] == 1
        rows = deltas.rows
        rows = rows[(rows["kind"] & int(kinds) != 0) & (streamed & point.times.good)[rows["request"]]]
        request, start = np.unique(rows["request"], return_index=True)
        end = np.append(start[1:], len(rows)) - 1
        same = np.diff(rows["request"]) == 0
        return cls(request.astype(np.int64), rows["ns"][start], rows["ns"][end], np.diff(rows["ns"])[same])
