from __future__ import annotations

import inspect
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from assay.pytest_plugin.fixture import PytestBenchmark


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


@dataclass(frozen=True)
class MeasuredTest:
    """What one test measured, in plain values: with pytest-xdist it travels from a worker to who keeps it."""

    name: str
    """The test's id."""
    started: float
    """Unix seconds."""
    seconds: float
    """All of the test that the fixture was there for."""
    workload: str
    """Digest of the test's source."""
    group: str | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    samples: tuple[float, ...] = ()
    """Seconds a call, one value a round."""
    iterations: int = 0
    failed: str = ""
    """Why the test failed; empty where it did not."""

    @classmethod
    def of(cls, item: Any, benchmark: PytestBenchmark, started: float, seconds: float) -> MeasuredTest:
        from assay.record.environment import digest

        params = {key: _plain(value) for key, value in getattr(getattr(item, "callspec", None), "params", {}).items()}
        timings = benchmark.timings
        return cls(
            str(item.nodeid),
            started,
            seconds,
            digest(_source(item)),
            benchmark.group,
            params,
            benchmark.metrics,
            timings.samples if timings else (),
            timings.iterations if timings else 0,
        )

    def to_plain(self) -> dict[str, Any]:
        return {**asdict(self), "samples": list(self.samples)}

    @classmethod
    def from_plain(cls, written: Mapping[str, Any]) -> MeasuredTest:
        return cls(**{**written, "samples": tuple(written["samples"])})


def _plain(value: Any) -> str:
    """A parameter as text, without an object's address: it differs from run to run, and no two would have the same
    parameters."""
    written = repr(value)
    return f"<{type(value).__qualname__}>" if " at 0x" in written else written


def _source(item: Any) -> str:
    try:
        return inspect.getsource(item.function)
    except (OSError, TypeError, AttributeError):
        return str(item.nodeid)
