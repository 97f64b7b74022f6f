from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

_SHORTEST_TIME_S = 0.01
_HALF_A_DAY_S = 43_200.0


@dataclass(frozen=True)
class Axis:
    """A stretch of numbers, kept as fractions of a power of two, so that even 1e308 and 5e-324 stay within a float."""

    low: float
    high: float
    exponent: int = 0

    @classmethod
    def of(cls, values: Iterable[float], *, zero: bool = False, pad: float = 0.0, time: bool = False) -> Axis:
        """Holds all `values`, with `pad` of their span at either side. Where they are all equal it is widened."""
        found = [value for value in values if math.isfinite(value)]
        if not found:
            return cls(0.0, 1.0)
        low, high = min(found), max(found)
        if time and high - low < _SHORTEST_TIME_S:
            low, high = low - _HALF_A_DAY_S, high + _HALF_A_DAY_S
        exponent = math.frexp(max(abs(low), abs(high)))[1]
        low, high = math.ldexp(low, -exponent), math.ldexp(high, -exponent)
        if low == high == 0:
            return cls(0.0, 1.0) if zero else cls(-1.0, 1.0)
        margin = (high - low) * pad if high > low else abs(high) * 0.08
        return cls(0.0 if zero and low >= 0 else low - margin, high + margin, exponent)

    def share(self, value: float) -> float:
        """Where a number stands between both ends, from 0 to 1."""
        share = (math.ldexp(value, -self.exponent) - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, share))

    def holds(self, value: float) -> bool:
        return math.isfinite(value) and self.ends[0] <= value <= self.ends[1]

    @property
    def exact(self) -> tuple[Decimal, Decimal]:
        """Both ends; they may lie beyond what a float holds."""
        scale = Decimal(2) ** self.exponent
        return Decimal(self.low) * scale, Decimal(self.high) * scale

    def share_of(self, value: Decimal) -> float:
        low, high = self.exact
        return min(1.0, max(0.0, float((value - low) / (high - low))))

    @property
    def ends(self) -> tuple[float, float]:
        most = Decimal(sys.float_info.max)
        low, high = (float(min(most, max(-most, end))) for end in self.exact)
        return low, high
