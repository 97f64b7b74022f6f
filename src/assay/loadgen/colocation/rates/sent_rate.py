from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.loadgen.result import LoadResult

TOLERANCE = 0.05
"""Share of the asked rate by which the sent one may fall short."""


@dataclass(frozen=True)
class SentRate:
    """Queries a second: as the schedule had them, and as they were sent."""

    offered: float
    sent: float

    @classmethod
    def of(cls, result: LoadResult) -> SentRate:
        rows = result.measured.sends
        if len(rows) < 2:
            return cls(float("nan"), float("nan"))
        rows = rows[np.argsort(rows["intended"], kind="stable")]
        span = int(rows["intended"][-1]) - result.started_at
        # Median lateness of the last tenth: one late send at the end is not a rate.
        late = float(np.median((rows["start"] - rows["intended"])[-max(len(rows) // 10, 1) :]))
        return cls(len(rows) / span * 1e9, len(rows) / (span + max(late, 0.0)) * 1e9)

    @property
    def problem(self) -> str:
        """Empty where the rate was sent."""
        if self.sent >= (1 - TOLERANCE) * self.offered:
            return ""
        if self.offered != self.offered:
            return "too few queries were sent to tell their rate"
        return (
            f"the rate was not sent: {self.sent:.4g} queries/s of {self.offered:.4g} in the schedule "
            f"(at least {1 - TOLERANCE:.0%} must be)"
        )
