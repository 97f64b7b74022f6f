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

from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Self

from assay.errors import AssayError
from assay.loadgen.http.client_limits import ClientLimits
from assay.loadgen.http.exchanges import Exchange, Exchanges
from assay.loadgen.http.request_plan import RequestPlan
from assay.loadgen.http.target import Target

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
