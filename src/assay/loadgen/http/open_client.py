"""The client's ceiling: what it can do on this machine against a server that does nothing (`assay load --self-test`).

CPU a request is measured twice: with all tokens of an answer in one receipt, and with each token in a receipt of its
own. The difference is what a receipt costs; both together say how many requests a second one core can send and
receive, however many receipts an answer takes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from assay.loadgen.http.compiled_client import CompiledClient
from assay.loadgen.http.compiled_structures import functions
from assay.loadgen.http.exchanges import Exchanges
from assay.loadgen.http.http_client import ClientLimits, Fault, HttpClient, RequestPlan
from assay.loadgen.http.server import ScriptedServer, null_replies
from assay.loadgen.http.target import Target


def open_client(target: Target, limits: ClientLimits | None = None) -> HttpClient:
    """The compiled client where it can be used; the plain one for TLS and where there is no compiled library."""
    limits = limits or ClientLimits()
    if target.secure or functions() is None:
        from assay.loadgen.http.plain_client import PlainClient

        return PlainClient(target, limits)
    return CompiledClient(target, limits)


_GAP_S = 0.002
_SLOW_SHARE = 0.02
"""Requests with one receipt a token are this share of the others: each takes tens of milliseconds."""
_RATE = 200.0
_OPEN_SECONDS = 1.0

OpenClient = Callable[[Target, ClientLimits], HttpClient]


@dataclass(frozen=True)
class Ceiling:
    """What one process of the client does at most. Seconds of CPU time, unless a name says otherwise."""

    client: str
    tokens: int
    in_flight: int
    held_per_s: float
    """Requests a second that were really answered, client and null server side by side."""
    request_s: float
    """CPU of a request whose answer comes in one receipt."""
    receipt_s: float
    """CPU of every further receipt."""
    late_p50_s: float
    late_p99_s: float
    """Lateness of sends at Poisson arrivals of 200 a second: sent after the intended time."""

    def most_per_s(self, receipts: float = 1.0) -> float:
        """Requests a second that one core can hold, of answers that come in so many receipts."""
        return 1.0 / (self.request_s + self.receipt_s * max(receipts - 1.0, 0.0))

    def lines(self) -> list[str]:
        many = float(self.tokens)
        return [
            f"client: {self.client}; {self.in_flight} in flight, {self.tokens} streamed tokens an answer",
            (
                f"answers in one receipt: {self.request_s * 1e6:,.1f} µs of CPU a request, "
                f"at most {self.most_per_s():,.0f} requests a second on one core ({self.held_per_s:,.0f} held here)"
            ),
            (
                f"answers in {self.tokens} receipts: {1e6 / self.most_per_s(many):,.1f} µs of CPU a request, "
                f"at most {self.most_per_s(many):,.0f} requests a second on one core"
            ),
            (
                f"Poisson arrivals at {_RATE:g} a second: sent {self.late_p50_s * 1e6:,.0f} µs late at the median, "
                f"{self.late_p99_s * 1e6:,.0f} µs at p99"
            ),
        ]


def measure_ceiling(
    tokens: int = 32, in_flight: int = 16, requests: int = 10_000, make: OpenClient = open_client
) -> Ceiling:
    """About two seconds with the compiled client."""
    limits = ClientLimits(most_in_flight=in_flight)
    slow = max(int(requests * _SLOW_SHARE), in_flight)
    fast = _run(make, tokens, 0.0, limits, lambda messages: RequestPlan(messages, requests))
    spaced = _run(make, tokens, _GAP_S, limits, lambda messages: RequestPlan(messages, slow))
    arrivals = np.cumsum(np.random.default_rng(1).exponential(1e9 / _RATE, int(_RATE * _OPEN_SECONDS))).astype(np.int64)
    timed = _run(make, tokens, 0.0, limits, lambda messages: RequestPlan(messages, len(arrivals), at_ns=arrivals))
    late = (timed.rows["sent_ns"] - timed.rows["intended_ns"]) / 1e9
    request_s = fast.cpu_s / len(fast)
    receipts = len(spaced.pieces) / len(spaced)
    receipt_s = max(spaced.cpu_s / len(spaced) - request_s, 0.0) / max(receipts - 1.0, 1.0)
    took_s = (fast.rows["end_ns"].max() - fast.start_ns) / 1e9
    return Ceiling(
        client=fast.client,
        tokens=tokens,
        in_flight=in_flight,
        held_per_s=fast.faults().get(Fault.NONE, 0) / took_s,
        request_s=request_s,
        receipt_s=receipt_s,
        late_p50_s=float(np.quantile(late, 0.5)),
        late_p99_s=float(np.quantile(late, 0.99)),
    )


def _run(
    make: OpenClient, tokens: int, gap_s: float, limits: ClientLimits, plan: Callable[[list[bytes]], RequestPlan]
) -> Exchanges:
    with ScriptedServer(null_replies(tokens, gap_s)) as server:
        target = Target.parse(server.url)
        body = {"model": "null", "stream": True, "messages": [{"role": "user", "content": "hello " * 16}]}
        with make(target, limits) as client:
            client.connect(limits.most_in_flight or 1)
            client.submit_plan(plan([target.message("/v1/chat/completions", json.dumps(body).encode())]))
            client.run()
            return client.exchanges()
