from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.report.quantity import quantity
from assay.report.svg.tick import Tick

_MOST_LABELS = 5


@dataclass(frozen=True)
class TimeScale:
    """A logarithmic scale of times in seconds that several distributions share, cut into bins of equal ratio."""

    edges: tuple[float, ...]

    @classmethod
    def of(cls, stretches: Sequence[tuple[float, float]], bins: int) -> TimeScale | None:
        """Holds all `stretches`; None where there are none."""
        if not stretches:
            return None
        low, high = math.log(min(low for low, _ in stretches)), math.log(max(high for _, high in stretches))
        if high - low < 0.1:
            low, high = low - 0.05, high + 0.05
        return cls(tuple(math.exp(low + (high - low) * i / bins) for i in range(bins + 1)))

    def share(self, seconds: float) -> float:
        low, high = math.log(self.edges[0]), math.log(self.edges[-1])
        return min(1.0, max(0.0, (math.log(max(seconds, self.edges[0])) - low) / (high - low)))

    def decades(self) -> tuple[float, ...]:
        """Powers of ten on it, as shares of its length."""
        return tuple(self.share(10.0**power) for power in self._powers())

    def ticks(self) -> tuple[Tick, ...]:
        """Labels of powers of ten, or of both ends where it holds fewer than two."""
        powers = self._powers()
        if len(powers) < 2:
            ends = (self.edges[0], self.edges[-1])
            return tuple(Tick(self.share(end), quantity(float(f"{end:.2g}"), "s")) for end in ends)
        shown = powers[:: math.ceil(len(powers) / _MOST_LABELS)]
        return tuple(Tick(self.share(10.0**power), quantity(10.0**power, "s")) for power in shown)

    def _powers(self) -> list[int]:
        first, last = math.ceil(math.log10(self.edges[0]) - 1e-9), math.floor(math.log10(self.edges[-1]) + 1e-9)
        return list(range(first, last + 1))
