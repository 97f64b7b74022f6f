"""Why a message did not arrive. A sink raises one of these where it knows; anything else it raises counts as
`Unavailable`.

SinkFailure
 ├─ Unavailable     not now: keep the message, and the order, and try again later
 └─ Rejected        never: set this message aside, go on with the next
"""

from __future__ import annotations


class SinkFailure(Exception):
    def __init__(self, reason: str = "", status: int | None = None) -> None:
        self.status = status
        """What an HTTP service answered with, where it did."""
        super().__init__(reason)


class Unavailable(SinkFailure):
    def __init__(self, reason: str, retry_after_s: float | None = None, status: int | None = None) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(reason, status)


class Rejected(SinkFailure):
    pass
