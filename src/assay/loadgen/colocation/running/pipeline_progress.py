from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PipelineProgress:
    """How far one pipeline is, while it runs."""

    pipeline: str
    seconds: float
    asked_rate: float | None
    achieved_rate: float
    sent: int
    completed: int
    failed: int
    in_flight: int
    p99_s: float

    def __str__(self) -> str:
        asked = "as fast as it goes" if self.asked_rate is None else f"asked {self.asked_rate:g}/s"
        failed = f", {self.failed} failed" if self.failed else ""
        return (
            f"{self.pipeline}: {self.seconds:.1f} s, {asked}, achieved {self.achieved_rate:.1f}/s, "
            f"{self.in_flight} in flight, p99 {self.p99_s * 1e3:.3f} ms{failed}"
        )
