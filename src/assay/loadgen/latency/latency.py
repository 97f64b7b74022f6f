from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from numpy.typing import ArrayLike

from assay.loadgen.latency.histogram import Histogram

SHARES: Final = {"p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}


@dataclass(frozen=True)
class Latency:
    """The distribution of one kind of time. All in nanoseconds; NaN when nothing was measured."""

    count: int
    mean: float
    least: float
    most: float
    percentiles: Mapping[str, float]

    @classmethod
    def of(cls, values: ArrayLike) -> Latency:
        histogram = Histogram()
        histogram.add(values)
        return cls.from_histogram(histogram)

    @classmethod
    def from_histogram(cls, histogram: Histogram) -> Latency:
        nothing = float("nan")
        return cls(
            histogram.total,
            histogram.mean,
            histogram.least if histogram.total else nothing,
            histogram.most if histogram.total else nothing,
            {name: histogram.percentile(share) for name, share in SHARES.items()},
        )

    def __getitem__(self, name: str) -> float:
        return self.percentiles[name]

    def seconds(self, name: str) -> float:
        """A percentile in seconds."""
        return self.percentiles[name] / 1e9

    def to_json(self) -> dict[str, Any]:
        times = {"mean": self.mean, "min": self.least, "max": self.most, **self.percentiles}
        return {"count": self.count, **{f"{name}_us": ns / 1e3 for name, ns in times.items()}}
