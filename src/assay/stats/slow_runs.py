from __future__ import annotations

from dataclasses import dataclass
from math import comb

from assay.stats.biweight import middle
from assay.stats.intervals import Floats

BEYOND = 1.5
"""Factor over the slowest run of the other side from which on a run is slow."""
CERTAIN = 0.001


@dataclass(frozen=True)
class SlowRuns:
    """Runs of one side that the other side has none of: a program that is sometimes slow."""

    count: int
    of: int
    times: float
    """A typical slow run over the other side's median."""
    chance: float
    """Probability that so many fall on one side by chance (Fisher's exact test)."""

    @property
    def certain(self) -> bool:
        return self.chance < CERTAIN


def slow_runs(base: Floats, head: Floats) -> SlowRuns | None:
    """Slow runs in `head`: two or more that took at least `BEYOND` times the largest of `base`."""
    slow = head[head >= BEYOND * base.max()]
    if slow.size < 2 or base.max() <= 0:
        return None
    n, m, k = base.size, head.size, slow.size
    return SlowRuns(k, m, middle(slow) / middle(base), comb(m, k) / comb(n + m, k))
