from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.errors import UsageError


@dataclass(frozen=True)
class RequestPlan:
    """Requests that are known before the run starts.

    `messages` are whole requests as bytes (`Target.message`). Request i sends `messages[order[i]]`, or
    `messages[i % len(messages)]` where there is no order. `at_ns` are intended times, in nanoseconds from the start
    and ascending; without them a request is due when one of `most_in_flight` slots is free (a closed loop).
    """

    messages: Sequence[bytes]
    count: int
    """Requests at most. A closed loop that a duration ends may give a large number: what was not sent costs nothing."""
    order: NDArray[np.int32] | None = None
    at_ns: NDArray[np.int64] | None = None
    cancel_after_s: float | None = None
    """Every request is cancelled (its connection closed) when it has taken this long from its send."""
    cancel_after_events: int | None = None
    """Every request is cancelled when this many server-sent events have arrived."""
    grouped: bool = False
    """Closed loop: `most_in_flight` requests are sent at once, the next ones when all of them have ended."""

    def __post_init__(self) -> None:
        if not self.messages:
            raise UsageError("a plan of requests needs at least one message")
        if self.count < 1:
            raise UsageError("a plan of requests needs at least one request")
        if self.order is not None and (
            len(self.order) != self.count or self.order.min() < 0 or self.order.max() >= len(self.messages)
        ):
            raise UsageError(f"the order of {self.count} requests names messages that are not there")
        if self.at_ns is not None:
            if len(self.at_ns) != self.count:
                raise UsageError(f"{self.count} requests need {self.count} times, not {len(self.at_ns)}")
            if np.any(np.diff(self.at_ns) < 0) or self.at_ns[0] < 0:
                raise UsageError("times of requests must ascend, from 0 on")

    def message_of(self, number: int) -> int:
        return int(self.order[number]) if self.order is not None else number % len(self.messages)
