from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from assay.loadgen.serving.measured.serving_objective import ServingObjective


@dataclass(frozen=True)
class LoadAsked:
    """The load of one run, as it was asked for."""

    scheduler: str
    """Name of the load scheduler, `conversations` or `trace`."""
    rate: float | None = None
    concurrency: int | None = None
    """Requests in flight: of a closed loop, the most of an open one; or conversations at a time."""
    requests: int | None = None
    duration_s: float | None = None
    seed: int = 0
    loop: Literal["open", "closed", "conversations"] = "open"
    objectives: tuple[ServingObjective, ...] = ()
    processes: int = 1
    """Client processes that it was dealt out to."""

    @property
    def closed_places(self) -> int | None:
        """Requests that a closed loop keeps in flight."""
        return self.concurrency if self.loop == "closed" else None

    @property
    def cap(self) -> int | None:
        """Requests in flight at most, of an open loop."""
        return self.concurrency if self.loop == "open" else None

    @property
    def words(self) -> str:
        """`rate 10/s (poisson)`, `16 in flight`."""
        if self.loop == "conversations":
            return f"{self.concurrency} conversations at a time"
        if self.loop == "closed":
            return f"{self.concurrency} in flight"
        rate = self.scheduler if self.rate is None else f"{self.rate:g}/s ({self.scheduler})"
        return rate if self.cap is None else f"{rate}, at most {self.cap} in flight"

    def to_json(self) -> dict[str, Any]:
        return {
            "scheduler": self.scheduler,
            "loop": self.loop,
            "rate": self.rate,
            "concurrency": self.concurrency,
            "requests": self.requests,
            "duration_s": self.duration_s,
            "seed": self.seed,
            "processes": self.processes,
            "words": self.words,
        }
