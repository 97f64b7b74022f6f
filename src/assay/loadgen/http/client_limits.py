from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ClientLimits:
    """How much a client may do at once, how long it waits, and how much it keeps."""

    most_in_flight: int | None = None
    """Requests in flight at most: the concurrency of a closed loop, the cap of an open one. None: no cap."""
    connect_s: float = 10.0
    idle_s: float = 300.0
    """Longest time without a byte while an answer is awaited."""
    total_s: float = 900.0
    """Longest time from the first byte sent to the last byte received."""
    most_answer_bytes: int = 64 << 20
    """Largest body of one answer."""
    most_kept_bytes: int = 8 << 30
    """Largest sum of all answers that a run keeps. A run that reaches it ends there and says so."""
    most_connections: int = 16_384
    failures_in_a_row: int | None = None
    """A run ends when this many requests in a row got no HTTP answer at all. None: it goes on."""
