"""Was the load that was asked for put on the server?

An open loop is judged by its rate. A closed one asks for no rate: its places in flight are to hold a request all the
time, so it is judged by how long they stood empty, from an answer to the next send. What held sends up is told apart:
the cap on requests in flight and connections that had to be made anew, the server's doing, and the client itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.loadgen.http.exchanges import Exchanges
from assay.loadgen.load_result import Ints
from assay.loadgen.serving.clients import places_of
from assay.loadgen.serving.load_settings import LoadAsked
from assay.loadgen.serving.objectives import QUANTITIES, ObjectiveResult
from assay.loadgen.serving.replies import Replies
from assay.loadgen.serving.request_metrics import SHARES, RequestTimes, TokenCounts, quantiles
from assay.loadgen.serving.saturation import Saturation
from assay.record.metric import Metric

LEAST_SHARE = 0.95
"""Share of the asked load below which the load was another one."""


@dataclass(frozen=True)
class DeliveredLoad:
    rate: float
    """Requests sent a second."""
    in_flight: float
    """Requests in flight, mean over the time in which requests were sent; of a closed loop once all places had one."""
    share: float
    """Delivered share of the asked load: of its rate, or of the time for which its places were to be taken."""
    scheduled: int
    sent: int
    held_back: int
    """Requests that waited because the cap on requests in flight was reached."""
    lateness_p50: float
    lateness_p99: float
    """Nanoseconds from the intended to the real send."""
    own_share: float
    """What the share would be had the sends that a cap held back been on time: below 1, the client was late."""
    closed: bool = False
    empty_mean: float = 0.0
    """Nanoseconds for which a place of a closed loop stood empty before each send, mean."""
    reconnected: int = 0
    """Connections made beyond one for each place of a closed loop: the server did not keep the others alive."""


def measure_delivered_load(exchanges: Exchanges, concurrency: int | None, cap: int | None) -> DeliveredLoad:
    """`concurrency`: requests in flight of a closed loop; `cap`: most requests in flight of an open one."""
    rows = exchanges.rows
    sent_rows = rows[rows["sent_ns"] > 0]
    start = exchanges.start_ns
    late = sent_rows["sent_ns"] - sent_rows["intended_ns"]
    held = _find_held_back(exchanges, cap)
    p50, p99 = quantiles(late, [0.5, 0.99])
    last = int(sent_rows["sent_ns"].max()) if len(sent_rows) else start
    share = _rate_share(rows["intended_ns"], rows["sent_ns"], start)
    own = _rate_share(rows["intended_ns"], np.where(held, rows["intended_ns"], rows["sent_ns"]), start)
    begin, reconnected, empty = start, 0, 0.0
    if concurrency is not None:
        # The first request of each place goes out when the loop begins: nothing was in flight that it could follow.
        first = sent_rows["intended_ns"] <= start
        begin = int(sent_rows["sent_ns"][first].max()) if first.any() else start
        own = share = _share_taken(sent_rows[~first])
        empty = float(late[~first].mean()) if not first.all() else 0.0
        reconnected = max(exchanges.connections - concurrency, 0)
    in_flight = _mean_in_flight(sent_rows, begin, last)
    return DeliveredLoad(
        rate=len(sent_rows) / ((last - start) / 1e9) if last > start else float("nan"),
        in_flight=in_flight,
        share=share,
        scheduled=len(rows),
        sent=len(sent_rows),
        held_back=int(held.sum()),
        lateness_p50=p50,
        lateness_p99=p99,
        own_share=own,
        closed=concurrency is not None,
        empty_mean=empty,
        reconnected=reconnected,
    )


def _mean_in_flight(sent: NDArray[np.void], begin: int, last: int) -> float:
    if last <= begin:
        return float(len(sent))
    return float(np.sum(np.clip(sent["end_ns"], begin, last) - np.clip(sent["sent_ns"], begin, last)) / (last - begin))


def _share_taken(sent: NDArray[np.void]) -> float:
    """Time in which the places of a closed loop held a request ÷ that time and the time for which they stood empty."""
    free = float(np.sum(sent["end_ns"] - sent["intended_ns"]))
    return float(np.sum(sent["end_ns"] - sent["sent_ns"])) / free if free > 0 else 1.0


def _rate_share(intended: Ints, sent: Ints, start: int) -> float:
    """Share of the scheduled requests that were sent; less where the sends fell behind their times."""
    if not len(intended):
        return 1.0
    was = sent > 0
    span = int(intended.max()) - start
    order = np.argsort(intended[was], kind="stable")
    late = (sent - intended)[was][order]
    # Median lateness of the last tenth: one late send at the end is not a rate.
    behind = max(float(np.median(late[-max(len(late) // 10, 1) :])), 0.0) if len(late) else 0.0
    pace = span / (span + behind) if span > 0 else 1.0
    return float(was.mean()) * pace


def _find_held_back(exchanges: Exchanges, cap: int | None) -> NDArray[np.bool_]:
    """Requests that found `cap` others unfinished when they were due; each process has its own part of the places."""
    rows = exchanges.rows
    held = np.zeros(len(rows), np.bool_)
    if cap is None or not len(rows):
        return held
    process = np.zeros(len(rows), np.int64) if exchanges.process is None else exchanges.process
    processes = int(process.max()) + 1
    for number in range(processes):
        mine = np.flatnonzero(process == number)
        mine = mine[np.argsort(rows["intended_ns"][mine], kind="stable")]
        ended = np.searchsorted(np.sort(rows["end_ns"][mine]), rows["intended_ns"][mine], side="right")
        held[mine] = np.arange(len(mine)) - ended >= places_of(number, cap, processes)
    return held


CPU_FULL = 0.9
"""Share of a core above which a client that runs on one has nothing left."""
NEAR_CEILING = 0.8
"""Share of the most that the client can do here, above which it may have been what was measured."""


@dataclass(frozen=True)
class LoadVerdict:
    """May the figures be read as the server's?"""

    client_bottleneck: str = ""
    """Why the client was what held the load up; empty where it was not."""
    undelivered: str = ""
    """Why the load was another than the one asked for."""
    saturated: str = ""
    failed: str = ""
    """Why nothing was measured."""

    @property
    def reasons(self) -> list[str]:
        return [words for words in (self.failed, self.saturated, self.client_bottleneck, self.undelivered) if words]

    @property
    def of_server(self) -> bool:
        """The times say something about the server under the load that was asked for."""
        return not self.reasons


def load_verdict(
    delivered: DeliveredLoad,
    cpu_share: float,
    rate: float,
    ceiling: float | None,
    saturation: Saturation | None,
    failed: str,
) -> LoadVerdict:
    """`cpu_share`: of a core, by each process of the client; `ceiling`: requests a second that it gets through, on this
    machine, against a server that does nothing."""
    client = ""
    if cpu_share > CPU_FULL:
        client = f"the client was the bottleneck: it used {cpu_share:.0%} of a core"
    elif ceiling is not None and rate > NEAR_CEILING * ceiling:
        client = (
            f"the client was the bottleneck: {rate:.4g} requests/s, and here it gets through {ceiling:.4g}/s "
            "of such answers from a server that does nothing"
        )
    elif delivered.closed and delivered.own_share < LEAST_SHARE and not delivered.reconnected:
        client = (
            f"the client was the bottleneck: places in flight stood empty {1 - delivered.own_share:.1%} of the time, "
            f"{delivered.empty_mean / 1e3:.3g} µs (mean) from an answer to the next request"
        )
    elif not delivered.closed and delivered.own_share < LEAST_SHARE:
        client = (
            f"the client was the bottleneck: it sent {delivered.own_share:.1%} of the load at its times "
            f"(median {delivered.lateness_p50 / 1e6:.3g} ms late)"
        )
    undelivered = ""
    if not client and delivered.share < LEAST_SHARE:
        held = f"; {delivered.held_back} requests waited for one of the places in flight" if delivered.held_back else ""
        undelivered = f"the load asked for was not delivered: {delivered.share:.1%} of it{held}"
        if delivered.reconnected:
            undelivered += (
                f"; {delivered.reconnected} connections had to be made anew, the server did not keep them alive"
            )
    return LoadVerdict(client, undelivered, saturation.words if saturation else "", failed)


NOT_ERRORS = ("", "cancelled")
OF_THE_STOP = ("unfinished", "never_sent")
"""Faults of requests that a stopped run leaves behind: nobody waited for them any longer."""


@dataclass(frozen=True)
class LoadPoint:
    """One load on one endpoint, measured: a whole run, or one rate of a sweep."""

    asked: LoadAsked
    exchanges: Exchanges
    replies: Replies
    tokens: TokenCounts
    saturation: Saturation | None = None
    ceiling: float | None = None
    """Requests a second that the client gets through here at most, all its processes."""
    warmup: int = 0
    """Requests sent before, in no figure."""
    notes: tuple[str, ...] = ()
    stopped: bool = False
    """It was ended before its time."""

    @cached_property
    def times(self) -> RequestTimes:
        return RequestTimes(self.exchanges, self.replies, self.tokens.output)

    @cached_property
    def duration_s(self) -> float:
        """Seconds from the start to the end of the last request."""
        rows = self.exchanges.rows
        return max((int(rows["end_ns"].max()) - self.exchanges.start_ns) / 1e9, 1e-9) if len(rows) else 0.0

    @cached_property
    def delivered(self) -> DeliveredLoad:
        return measure_delivered_load(self.exchanges, self.asked.closed_places, self.asked.cap)

    @property
    def answered(self) -> int:
        return int(self.times.good.sum())

    @cached_property
    def errors(self) -> Mapping[str, int]:
        """Number of errors by kind."""
        apart = (*NOT_ERRORS, *(OF_THE_STOP if self.saturation or self.stopped else ()))
        return dict(sorted(Counter(kind for kind in self.replies.failures if kind not in apart).items()))

    @property
    def error_count(self) -> int:
        return sum(self.errors.values())

    @cached_property
    def objectives(self) -> tuple[ObjectiveResult, ...]:
        return tuple(objective.judge(self.times, self.error_count) for objective in self.asked.objectives)

    @property
    def objectives_met(self) -> bool:
        return all(result.met for result in self.objectives) and not self.saturation

    @cached_property
    def cpu_share(self) -> float:
        return self.exchanges.cpu_s / self.duration_s if self.duration_s else float("nan")

    @cached_property
    def verdict(self) -> LoadVerdict:
        rate = self.answered / self.duration_s if self.duration_s else 0.0
        share = self.cpu_share / self.asked.processes
        return load_verdict(self.delivered, share, rate, self.ceiling, self.saturation, self.failed)

    @cached_property
    def failed(self) -> str:
        """Why there is nothing to measure; empty where at least one request was answered."""
        if self.answered:
            return ""
        if not len(self.replies.failures):
            return "no request was sent"
        kind, count = Counter(self.replies.failures).most_common(1)[0]
        message = next((said for said, why in zip(self.replies.messages, self.replies.failures, strict=True)
                        if why == kind and said), "")  # fmt: skip
        return f"none of {len(self.replies.failures)} requests was answered; {count} × {kind}" + (
            f": {message}" if message else ""
        )

    @cached_property
    def met(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Requests that were answered within every objective."""
        met = self.times.good.copy()
        for objective in self.asked.objectives:
            met &= objective.find_met(self.times)
        return met


# Figures of one load as metrics, under the names that docs/serving.md explains.


def point_metrics(point: LoadPoint) -> list[Metric]:
    """Times are left out where they would not be the server's own: it is saturated, or nothing was answered."""
    metrics = [*_rates(point), *_counts(point), *_delivery(point)]
    if point.saturation is None:
        for quantity in QUANTITIES:
            metrics += _times(quantity, point.times.values(quantity))
    return metrics


def _times(quantity: str, values: Ints) -> Iterator[Metric]:
    if not len(values):
        return
    for name, value in zip(SHARES, quantiles(values, list(SHARES.values())), strict=True):
        yield Metric(f"{quantity}_{name}", value / 1e9, "s", "lower")
    yield Metric(f"{quantity}_mean", float(np.mean(values)) / 1e9, "s", "lower")


def _rates(point: LoadPoint) -> Iterator[Metric]:
    seconds, times = point.duration_s, point.times
    if not seconds:
        return
    output = np.maximum(times.output_tokens, 0)
    tokens_in = np.maximum(point.tokens.input, 0)
    yield Metric("requests_per_s", point.answered / seconds, "1/s", "higher")
    yield Metric("goodput_requests_per_s", int(point.met.sum()) / seconds, "1/s", "higher")
    if output[times.good].any():
        yield Metric("output_tokens_per_s", int(output[times.good].sum()) / seconds, "1/s", "higher")
        yield Metric("goodput_tokens_per_s", int(output[point.met].sum()) / seconds, "1/s", "higher")
        if point.saturation is None:
            spent = times.per_request["latency_s"][times.good] / 1e9
            speed = float(np.median(output[times.good] / np.maximum(spent, 1e-9)))
            yield Metric("output_tokens_per_s_per_user", speed, "1/s", "higher")
    if tokens_in[times.good].any():
        yield Metric("input_tokens_per_s", int(tokens_in[times.good].sum()) / seconds, "1/s", "higher")


def _counts(point: LoadPoint) -> Iterator[Metric]:
    total = len(point.replies.failures)
    yield Metric("requests", total)
    yield Metric("answered", point.answered, better="higher")
    yield Metric("errors", point.error_count, better="lower")
    yield Metric("error_share", point.error_count / total if total else 0.0, better="lower")
    for kind, count in point.errors.items():
        yield Metric(f"errors_{kind}", count, better="lower")
    cancelled = sum(kind == "cancelled" for kind in point.replies.failures)
    if cancelled:
        yield Metric("cancelled", cancelled)
    good, tokens = point.times.good, point.tokens
    for name, counts in (
        ("input_tokens", tokens.usage_input),
        ("output_tokens", tokens.usage_output),
        ("input_tokens_by_tokenizer", tokens.tokenizer_input),
        ("output_tokens_by_tokenizer", tokens.tokenizer_output),
    ):
        told = counts[good & (counts >= 0)]
        if len(told):
            yield Metric(name, int(told.sum()))
    yield Metric("counted_by", tokens.source)
    yield Metric("duration_s", point.duration_s, "s")
    yield Metric("objectives_met", point.objectives_met)


def _delivery(point: LoadPoint) -> Iterator[Metric]:
    load = point.delivered
    if point.asked.rate is not None:
        yield Metric("asked_rate", point.asked.rate, "1/s")
    yield Metric("sent_per_s", load.rate, "1/s")
    yield Metric("in_flight_mean", load.in_flight)
    yield Metric("delivered_share", load.share, better="higher")
    yield Metric("held_back", load.held_back)
    yield Metric("lateness_s_p50", load.lateness_p50 / 1e9, "s", "lower")
    yield Metric("lateness_s_p99", load.lateness_p99 / 1e9, "s", "lower")
    yield Metric("client_cpu_share", point.cpu_share, better="lower")
    yield Metric("client_bottleneck", bool(point.verdict.client_bottleneck))
    yield Metric("load_delivered", load.share >= LEAST_SHARE)
    yield Metric("saturated", point.saturation is not None)
