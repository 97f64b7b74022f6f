from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from assay.analysis.fields import Fields

MOST_BINS = 200
_SHORTEST_S = 1e-9
"""Where a logarithmic scale begins: clocks count nanoseconds, and a first edge may be 0."""


@dataclass(frozen=True)
class TimeHistogram:
    """Counts of times between edges in seconds that rise."""

    edges: tuple[float, ...] = ()
    counts: tuple[float, ...] = ()

    @classmethod
    def read(cls, written: Fields) -> TimeHistogram:
        """Empty where edges and counts do not fit together."""
        edges, counts = written.numbers("edges_us", MOST_BINS + 1), written.numbers("counts", MOST_BINS)
        known = tuple(max(edge / 1e6, _SHORTEST_S) for edge in edges if edge is not None)
        there = tuple(count for count in counts if count is not None and count >= 0)
        fits = len(known) == len(edges) == len(counts) + 1 and len(there) == len(counts)
        rising = all(before < after for before, after in pairwise(known))
        return cls(known, there) if fits and rising and any(there) else cls()

    @property
    def ends(self) -> tuple[float, float] | None:
        """Edges of the first and the last bin that holds something."""
        held = [index for index, count in enumerate(self.counts) if count]
        return (self.edges[held[0]], self.edges[held[-1] + 1]) if held else None

    def shares(self, edges: Sequence[float]) -> tuple[float, ...]:
        """Shares of the whole between other edges. What a bin holds is spread evenly over its logarithm."""
        import numpy as np  # Reading results needs no statistics; only drawing these does.

        if not self.counts:
            return (0.0,) * (len(edges) - 1)
        up_to = np.concatenate([[0.0], np.cumsum(self.counts)])
        reached = np.interp(np.log(edges), np.log(self.edges), up_to / up_to[-1])
        return tuple(float(share) for share in np.diff(reached))


def pool_shares(histograms: Iterable[TimeHistogram], edges: Sequence[float]) -> tuple[float, ...]:
    """Shares between `edges` over several rounds together; a round weighs as much as it has calls."""
    parts = [(math.fsum(one.counts), one.shares(edges)) for one in histograms if one.counts]
    total = math.fsum(weight for weight, _ in parts)
    if not total:
        return ()
    return tuple(math.fsum(weight * shares[i] for weight, shares in parts) / total for i in range(len(edges) - 1))
