from __future__ import annotations

from dataclasses import dataclass

from assay.loadgen.schedulers.scheduler import LoadScheduler


@dataclass(frozen=True)
class Stop:
    """When the measured part ends: whichever comes first. Times are in seconds."""

    max_queries: int | None = None
    duration: float | None = None
    """No query is sent after this; those sent are finished."""
    timeout: float | None = None
    """Limit of the whole run, even if stages hang. Given alone, it is the duration."""
    percentile: float | None = None
    """End once enough queries were seen to state this latency percentile (MLPerf's early-stopping rule)."""
    min_duration: float = 0.0
    """Do not stop early, by `percentile`, before this."""
    on_request: bool = False
    """Go on until asked to stop: nothing above but `timeout` ends it."""

    def __post_init__(self) -> None:
        for name in ("max_queries", "duration", "timeout"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be greater than 0, not {value}")
        if self.percentile is not None and not 0 < self.percentile < 1:
            raise ValueError(f"percentile must lie between 0 and 1 (0.99 for p99), not {self.percentile}")

    @property
    def send_for(self) -> float | None:
        if self.on_request:
            return None
        if self.duration is None and self.max_queries is None and self.percentile is None:
            return self.timeout
        return self.duration

    @property
    def limit_is_failure(self) -> bool:
        return self.send_for != self.timeout


@dataclass(frozen=True)
class Warmup:
    """Load before the measured part, kept apart from it: `queries` one after the other, or `seconds` of the same
    load; with a scheduler, of that."""

    queries: int | None = None
    seconds: float | None = None
    scheduler: LoadScheduler | None = None

    def __post_init__(self) -> None:
        if self.queries is None and self.seconds is None:
            raise ValueError("a warm-up needs queries or seconds")
