"""What every client offers. A whole load:

    with open_client(target, ClientLimits(most_in_flight=16)) as client:
        client.connect(16)
        client.submit_plan(RequestPlan(messages, count=2000))
        client.run(send_for_s=30)
        exchanges = client.exchanges()

A conversation submits its next turn when the last one has ended:

    def next_turn(number: int) -> None:
        client.submit(target.message("/v1/chat/completions", body_after(client.answer(number))), at_ns=...)

    client.run(on_end=next_turn)

One request: `client.exchange(message)`.
"""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from assay.errors import AssayError, UsageError
from assay.loadgen.http.target import Target

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from assay.loadgen.http.exchanges import Exchange, Exchanges


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


class Fault(IntEnum):
    """What went wrong with one request. The numbers stand in saved files and in `c/http/fault.h`."""

    NONE = 0
    REFUSED = 1
    RESET = 2
    CLOSED = 3
    CONNECT_TIMEOUT = 4
    IDLE_TIMEOUT = 5
    TOTAL_TIMEOUT = 6
    STATUS_3XX = 7
    STATUS_4XX = 8
    STATUS_5XX = 9
    CUT = 10
    MALFORMED = 11
    TOO_LARGE = 12
    TLS = 13
    CANCELLED = 14
    UNFINISHED = 15
    NEVER_SENT = 16

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]

    @property
    def wrong(self) -> bool:
        """Is it an error? A request that was cancelled as planned is not."""
        return self not in (Fault.NONE, Fault.CANCELLED)


_SENTENCES = {
    Fault.NONE: "answered",
    Fault.REFUSED: "the connection was refused or could not be made",
    Fault.RESET: "the connection was reset",
    Fault.CLOSED: "the server closed the connection without an answer",
    Fault.CONNECT_TIMEOUT: "no connection within the time limit",
    Fault.IDLE_TIMEOUT: "the server sent nothing for longer than the time limit",
    Fault.TOTAL_TIMEOUT: "the answer was not complete within the time limit",
    Fault.STATUS_3XX: "the server answered with a redirection, which is not followed",
    Fault.STATUS_4XX: "the server answered that the request is wrong (4xx)",
    Fault.STATUS_5XX: "the server answered that it failed (5xx)",
    Fault.CUT: "the answer was cut off before its end",
    Fault.MALFORMED: "the answer is not HTTP/1.1 as it should be",
    Fault.TOO_LARGE: "the answer is larger than the limit",
    Fault.TLS: "TLS failed",
    Fault.CANCELLED: "cancelled as planned",
    Fault.UNFINISHED: "not answered when the run ended",
    Fault.NEVER_SENT: "due, but not sent before the run ended",
}


def fault_of_status(status: int) -> Fault:
    if status >= 500:
        return Fault.STATUS_5XX
    if status >= 400:
        return Fault.STATUS_4XX
    return Fault.STATUS_3XX if status >= 300 else Fault.NONE


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
            import numpy as np  # Checking a command line imports this module, and is to be quick.

            if np.any(np.diff(self.at_ns) < 0) or self.at_ns[0] < 0:
                raise UsageError("times of requests must ascend, from 0 on")

    def message_of(self, number: int) -> int:
        return int(self.order[number]) if self.order is not None else number % len(self.messages)


OnEnd = Callable[[int], None]


class TargetUnreachable(AssayError):
    """No connection to the service could be made before the clock started."""


class HttpClient(ABC):
    """Sends requests at their times, or when a slot is free, and takes the time of everything that comes back."""

    name: str
    target: Target
    limits: ClientLimits

    @abstractmethod
    def connect(self, count: int) -> None:
        """Make connections before the clock starts. Raises TargetUnreachable where not even one can be made."""

    @abstractmethod
    def submit_plan(self, plan: RequestPlan) -> None:
        """Submits requests 0 to `plan.count` - 1. Once for a client (or once after `forget`), before any `submit`."""

    @abstractmethod
    def submit(
        self,
        message: bytes,
        at_ns: int | None = None,
        cancel_after_s: float | None = None,
        cancel_after_events: int | None = None,
    ) -> int:
        """Submits one request more; returns its number. `at_ns` is from the start; None: when a slot is free."""

    @abstractmethod
    def run(
        self,
        on_end: OnEnd | None = None,
        send_for_s: float | None = None,
        drain_s: float | None = None,
        start_ns: int | None = None,
    ) -> None:
        """Runs until every request has ended.

        `on_end(number)` is called when a request has ended and may submit others. After `send_for_s` nothing more is
        sent, and what is still in flight `drain_s` later (None: at its own time limit) is UNFINISHED. `start_ns`:
        CLOCK_MONOTONIC of the start, for clients that begin together; set by the first run only.
        """

    @abstractmethod
    def stop(self) -> None:
        """End `run` soon: nothing more is sent or awaited. May be called from `on_end`, another thread, a signal."""

    @abstractmethod
    def now_ns(self) -> int:
        """Time since the start of the run."""

    @abstractmethod
    def answer(self, number: int) -> Exchange:
        """A request that has ended."""

    @abstractmethod
    def exchanges(self) -> Exchanges:
        """Everything measured so far. Requests that are not due yet, or not sent in a closed loop, are left out."""

    @abstractmethod
    def forget(self) -> None:
        """Drop all requests and answers, keep the connections: after a warm-up, and to save memory in long-lived
        stages."""

    @abstractmethod
    def close(self) -> None: ...

    def exchange(
        self, message: bytes, cancel_after_s: float | None = None, cancel_after_events: int | None = None
    ) -> Exchange:
        """Send one request and wait for its end. Nothing of it stays in the client."""
        number = self.submit(message, None, cancel_after_s, cancel_after_events)
        self.run()
        answered = self.answer(number)
        self.forget()
        return answered

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


Address = tuple[socket.AddressFamily, Any]
"""Family, and the address as its sockets take it."""


def resolve(target: Target) -> list[Address]:
    """Addresses of the target's host, looked up once: no name is resolved while the clock runs."""
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        why = error.strerror if isinstance(error, socket.gaierror) else str(error)
        raise TargetUnreachable(f"{target.url}: the host {target.host!r} is not known: {why}") from None
    return list(dict.fromkeys((family, address) for family, _, _, _, address in found))
