from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, fsum, sqrt
from statistics import fmean, stdev
from typing import Literal

from assay.loadgen.colocation.slowdown.round_ratio import RoundRatio
from assay.stats.distributions import t_quantile
from assay.stats.intervals import Interval

CONFIDENCE = 0.95

What = Literal["throughput", "p50", "p99", "mean"]


@dataclass(frozen=True)
class Slowdown:
    """One figure of a pipeline or of a stage, beside others against alone. 1 is no slowdown, 2 is half as fast."""

    what: What
    stage: int | None
    """Id of the stage; None: the whole pipeline."""
    rounds: tuple[RoundRatio, ...]
    reason: str = ""
    """Why there is no number."""

    @property
    def interval(self) -> Interval | None:
        return combine(self.rounds) if self.rounds else None

    @property
    def alone(self) -> float | None:
        """Nanoseconds alone (for throughput: for an answer), geometric mean of the rounds."""
        return None if not self.rounds else _geometric([one.alone for one in self.rounds])

    @property
    def beside(self) -> float | None:
        return None if not self.rounds else _geometric([one.beside for one in self.rounds])

    @property
    def slower(self) -> bool | None:
        """None: the interval holds 1, or there is none."""
        interval = self.interval
        return None if interval is None or not interval.excludes(1.0) else interval.low > 1.0


def combine(rounds: Sequence[RoundRatio], confidence: float = CONFIDENCE) -> Interval:
    """The geometric mean of the rounds, with an interval for the next rounds on the same machine.

    Blocks of one round share what the machine did then, so rounds are what is drawn from. With two or more the
    interval is Student's for their logarithms, and never narrower than what the blocks within them differ by: two
    rounds that happen to agree prove little. (A bootstrap over so few rounds is too narrow: Cameron, Gelbach and
    Miller, Review of Economics and Statistics 90, 2008.) With one round it holds only what its blocks differ by.
    """
    count, tail = len(rounds), (1 + confidence) / 2
    logs = [one.log for one in rounds]
    middle = fmean(logs)
    freedom = sum(one.blocks - 1 for one in rounds)
    half = t_quantile(tail, freedom) * sqrt(fsum(one.error**2 for one in rounds)) / count
    if count > 1:
        half = max(half, t_quantile(tail, count - 1) * stdev(logs) / sqrt(count))
    return Interval(exp(middle), exp(middle - half), exp(middle + half), confidence)


def _geometric(values: Sequence[float]) -> float:
    from math import log

    return exp(fmean(log(value) for value in values))
