from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.stats.line import fit_line


@dataclass(frozen=True)
class Growth:
    """Slope of a series of readings, per operation, with its 95% interval."""

    per_operation: float
    low: float
    high: float

    @property
    def certain(self) -> bool:
        """The whole interval is above zero."""
        return self.low > 0


def growth(readings: Sequence[float]) -> Growth:
    """The first third is left out, since caches and pools fill there."""
    kept = readings[len(readings) // 3 :]
    if len(kept) < 3:
        raise ValueError(f"growth needs at least five readings, not {len(readings)}")
    line = fit_line(range(len(kept)), kept)
    return Growth(line.slope, line.low, line.high)
