from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.errors import UsageError
from assay.loadgen.schedulers.scheduler import BLOCK, Arrivals, LoadScheduler


def draw(scheduler: LoadScheduler, seed: int, max_queries: int | None, duration_ns: int | None) -> Arrivals:
    """The whole schedule, drawn before the start so that a sender has nothing to do but wait and send."""
    if not scheduler.ends(max_queries is not None, duration_ns is not None):
        raise UsageError(
            f"{type(scheduler).__name__} never ends by itself: give max_queries or a duration"
            if scheduler.rate is not None
            else f"{type(scheduler).__name__} sends everything at once: give max_queries or a data set with a length"
        )
    blocks: list[Arrivals] = []
    count = 0
    for block in scheduler.arrivals(np.random.default_rng(seed)):
        blocks.append(block)
        count += len(block)
        if max_queries is not None and count >= max_queries:
            break
        if duration_ns is not None and len(block) and block[-1] >= duration_ns:
            break
    drawn = np.concatenate(blocks) if blocks else np.empty(0, np.int64)
    if duration_ns is not None:
        drawn = drawn[: np.searchsorted(drawn, duration_ns)]
    return drawn if max_queries is None else drawn[:max_queries]


def blocks(drawn: Arrivals) -> Iterator[Arrivals]:
    for first in range(0, len(drawn), BLOCK):
        yield drawn[first : first + BLOCK]
