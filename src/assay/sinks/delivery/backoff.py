"""Exponential backoff with equal jitter (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015):
half of the delay is certain, so that a dead service is not hammered; half is random, so that many sessions that
lost the same service do not come back at the same moment."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Backoff:
    first_s: float = 0.5
    most_s: float = 60.0
    most_asked_s: float = 3600.0

    def delay(self, failures: int, asked_s: float | None = None) -> float:
        """`asked_s`: what the service itself said (Retry-After); never sooner than that, but no service can put it off
        for longer than `most_asked_s`."""
        ceiling = min(self.most_s, self.first_s * 2.0 ** min(failures - 1, 30))
        return max(min(asked_s or 0.0, self.most_asked_s), ceiling / 2 + random.uniform(0, ceiling / 2))
