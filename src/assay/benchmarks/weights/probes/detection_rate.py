from __future__ import annotations

from dataclasses import dataclass

from assay.stats.intervals import share_interval

FEWEST = 30
"""Flips that changed what is read, below which no rate is given: one that was found is no 100%."""


@dataclass(frozen=True)
class DetectionRate:
    """Percent of damages that were noticed, with its exact binomial 95% interval."""

    percent: float
    low: float
    high: float

    @classmethod
    def of(cls, found: int, damages: int) -> DetectionRate:
        share = share_interval(found, damages)
        return cls(100 * share.estimate, 100 * share.low, 100 * share.high)

    def __str__(self) -> str:
        return f"{self.percent:.1f}% found ({self.low:.0f} to {self.high:.0f}%)"
