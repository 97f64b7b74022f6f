from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from assay.stats.distributions import binomial_at_most

FEWEST = 30
"""Flips that changed what is read, below which no rate is given: one that was found is no 100%."""
_TAIL = 0.025


@dataclass(frozen=True)
class DetectionRate:
    """Percent of damages that were noticed, with the exact binomial 95% interval (Clopper & Pearson, 1934)."""

    found: int
    of: int

    @property
    def percent(self) -> float:
        return 100 * self.found / self.of

    @property
    def low(self) -> float:
        """The smallest rate at which so many found, or more, are no surprise."""
        if self.found == 0:
            return 0.0
        return 100 * _where(lambda p: 1 - binomial_at_most(self.found - 1, self.of, p) >= _TAIL)

    @property
    def high(self) -> float:
        if self.found == self.of:
            return 100.0
        return 100 * _where(lambda p: binomial_at_most(self.found, self.of, p) <= _TAIL)

    def __str__(self) -> str:
        return f"{self.percent:.1f}% found ({self.low:.0f} to {self.high:.0f}%)"


def _where(holds: Callable[[float], bool]) -> float:
    """The least probability from which on it holds, by halving."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
