from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.loadgen.schedulers.scheduler import Arrivals, LoadScheduler

_LEAST_NS = 1_000_000_000
"""Length that is assumed for a schedule from which no gap can be told: one query, or all at once."""


def endless(scheduler: LoadScheduler, seed: int) -> Iterator[Arrivals]:
    """An open loop's schedule, in blocks, for as long as it is asked for.

    It begins as the one that `draw` draws. One that ends by itself begins again at its end: after its `seconds`, and
    where they are not known (a trace) a mean gap after its last query.
    """
    rng = np.random.default_rng(seed)
    begin = 0
    while True:
        last, count = 0, 0
        for block in scheduler.arrivals(rng):
            if len(block):
                yield begin + block
                last, count = int(block[-1]), count + len(block)
        if scheduler.seconds is not None:
            begin += int(scheduler.seconds * 1e9)
        else:
            begin += last + last // (count - 1) if last and count > 1 else _LEAST_NS
