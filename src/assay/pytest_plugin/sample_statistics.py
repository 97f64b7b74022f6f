from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class SampleStatistics:
    """What the rounds of one test say. They describe this run alone; whether it differs from another is `compare`'s."""

    min: float
    max: float
    mean: float
    median: float
    stddev: float | None
    """None with fewer than two rounds."""
    iqr: float | None
    """Distance from the first quartile to the third."""
    outliers: int
    """Rounds beyond 3.5 robust standard deviations from the median."""
    rounds: int
    iterations: int

    @classmethod
    def of(cls, samples: Sequence[float], iterations: int) -> SampleStatistics:
        from assay.stats import find_outliers

        several = len(samples) > 1
        quartiles = statistics.quantiles(samples, n=4, method="inclusive") if several else []
        return cls(
            min(samples),
            max(samples),
            statistics.fmean(samples),
            statistics.median(samples),
            statistics.stdev(samples) if several else None,
            quartiles[2] - quartiles[0] if several else None,
            len(find_outliers(samples)),
            len(samples),
            iterations,
        )

    @property
    def ops(self) -> float:
        """Calls a second."""
        return 1 / self.mean if self.mean else float("inf")
