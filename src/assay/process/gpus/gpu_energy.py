"""Joules of one GPU since the first reading: from its energy counter, or where it has none from power over time."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Source = Literal["", "counter", "power"]


class GpuEnergy:
    def __init__(self) -> None:
        self.source: Source = ""
        self._joules = 0.0
        self._last: tuple[float, float] | None = None
        """Time in seconds, and the counter in joules or the power in watts."""

    def add(self, at: float, counter_j: float | None, power_w: float | None) -> float | None:
        """Takes one reading; returns the joules up to it, None while nothing is known. The next reading makes up for
        one that is missed."""
        if not self.source and (counter_j is not None or power_w is not None):
            self.source = "counter" if counter_j is not None else "power"
        value = counter_j if self.source == "counter" else power_w
        if value is None:
            return None
        if self._last is not None:
            then, before = self._last
            # A driver that is loaded anew counts from 0.
            self._joules += max(value - before, 0.0) if self.source == "counter" else (value + before) / 2 * (at - then)
        self._last = (at, value)
        return self._joules
