from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ToolFigure:
    """One quantity as another tool defines and names it, in nanoseconds."""

    name: str
    values: NDArray[Any]

    @property
    def mean_ms(self) -> float:
        return float(np.mean(self.values)) / 1e6 if len(self.values) else float("nan")

    def percentile_ms(self, percent: float) -> float:
        """Percentile in milliseconds, interpolated between two values, as numpy does and as these tools use it."""
        return float(np.percentile(self.values, percent)) / 1e6 if len(self.values) else float("nan")
