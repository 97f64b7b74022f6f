"""A server that is asked for more than it can do: requests pile up, and latency grows for as long as the load lasts.

Any mean or percentile of such a run says how long the run was, not how fast the server is. A server counts as saturated
when the requests in flight grew through three windows in a row while fewer were answered than came. The first answers
say how long a request takes in an idle server: until requests have been in flight for that long, growth says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.loadgen.load_result import Ints
from assay.loadgen.serving.request_metrics import RequestTimes

_BINS = 60


def time_bins(values: Ints) -> dict[str, Any]:
    """A histogram with edges in seconds, equally far apart on a logarithmic scale; a last bin may hold one value."""
    if not len(values):
        return {"edges_s": [], "counts": []}
    low, high = max(int(values.min()), 1_000), max(int(values.max()), 1_001)
    if high <= low * 1.0001:
        return {"edges_s": [low / 1e9 * 0.999, high / 1e9 * 1.001], "counts": [len(values)]}
    edges = np.geomspace(low, high, _BINS + 1)
    edges[-1] = np.nextafter(float(high), np.inf)
    counts, _ = np.histogram(np.clip(values, low, high), edges)
    return {"edges_s": [float(f"{edge / 1e9:.6g}") for edge in edges], "counts": counts.tolist()}


_MOST_SLOTS = 240
_SLOTS_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)


@dataclass(frozen=True)
class LoadOverTime:
    """The course of a load in slots of equal length, from its start to its last answer."""

    slot_s: float
    in_flight: Ints
    """Requests in flight in the middle of each slot."""
    sent: Ints
    answered: Ints
    output_tokens: Ints
    errors: dict[str, Ints]

    def to_json(self) -> dict[str, Any]:
        per_s = 1 / self.slot_s
        return {
            "slot_s": self.slot_s,
            "in_flight": self.in_flight.tolist(),
            "sent_per_s": [round(count * per_s, 6) for count in self.sent.tolist()],
            "requests_per_s": [round(count * per_s, 6) for count in self.answered.tolist()],
            "output_tokens_per_s": [round(count * per_s, 6) for count in self.output_tokens.tolist()],
            "errors": {kind: counts.tolist() for kind, counts in self.errors.items()},
        }


def load_over_time(times: RequestTimes) -> LoadOverTime:
    rows, start = times.exchanges.rows, times.exchanges.start_ns
    ended = int(rows["end_ns"].max()) - start if len(rows) else 0
    slot_s = next((slot for slot in _SLOTS_S if ended / 1e9 / slot <= _MOST_SLOTS), _SLOTS_S[-1])
    slots = max(int(np.ceil(ended / 1e9 / slot_s)), 1)
    slot_ns = int(slot_s * 1e9)

    def count(at: Ints, weights: Any = None) -> Ints:
        places = np.clip((at - start) // slot_ns, 0, slots - 1)
        return np.rint(np.bincount(places, weights, minlength=slots)).astype(np.int64)

    was = rows["sent_ns"] > 0
    middles = start + slot_ns * np.arange(slots) + slot_ns // 2
    begun = np.searchsorted(np.sort(rows["sent_ns"][was]), middles, side="right")
    over = np.searchsorted(np.sort(rows["end_ns"][was]), middles, side="right")
    failures = np.asarray(times.replies.failures, dtype=object)
    kinds = sorted({kind for kind in times.replies.failures if kind})
    return LoadOverTime(
        slot_s=slot_s,
        in_flight=begun - over,
        sent=count(rows["sent_ns"][was]),
        answered=count(rows["end_ns"][times.good]),
        output_tokens=_tokens(times, count),
        errors={kind: count(rows["end_ns"][failures == kind]) for kind in kinds},
    )


def _tokens(times: RequestTimes, counted: Any) -> Ints:
    """Streamed tokens where they came, as many a chunk as the answer has on the average; others at the end."""
    replies = times.replies
    whole = times.good & (replies.chunks == 0)
    request = replies.chunk_request
    weight = (times.output_tokens / np.maximum(replies.chunks, 1))[request]
    streamed: Ints = counted(replies.chunk_at, weight)
    others: Ints = counted(times.exchanges.rows["end_ns"][whole], np.maximum(times.output_tokens[whole], 0))
    return streamed + others


_WINDOWS = 3
_SHORTEST_NS = 500_000_000
_FIRST = 20
_FALLS_SHORT = 0.95
"""Share of the arrivals that are answered, below which requests pile up."""
_LEAST_IN_FLIGHT = 16


@dataclass(frozen=True)
class Saturation:
    at_s: float
    """When it was seen, in seconds from the start."""
    in_flight: int
    arrival_rate: float
    answer_rate: float

    @property
    def words(self) -> str:
        return (
            f"the server is saturated: {self.arrival_rate:.4g} requests/s came, {self.answer_rate:.4g}/s answered, "
            f"{self.in_flight} were in flight after {self.at_s:.1f} s and it grew; latency grows as long as the load "
            "lasts, so it is not summed up"
        )


def find_saturation(intended: Ints, ended: Ints, latency: Ints, now: int) -> Saturation | None:
    """Times in nanoseconds from the start; `intended` of all requests that were due by `now`, `ended` and `latency` of
    those that have ended by then."""
    if len(ended) < _FIRST:
        return None
    usual = float(np.median(latency[np.argsort(ended - latency, kind="stable")[:_FIRST]]))
    window = max(int(2 * usual), _SHORTEST_NS)
    if now < (_WINDOWS + 1) * window:
        return None
    edges = now - window * np.arange(_WINDOWS, -1, -1)
    came = np.searchsorted(np.sort(intended), edges, side="right")
    answered = np.searchsorted(np.sort(ended), edges, side="right")
    flying = came - answered
    arrivals, answers = np.diff(came), np.diff(answered)
    if not np.all(arrivals > 0) or not np.all(answers < _FALLS_SHORT * arrivals):
        return None
    expected = arrivals[-1] / window * usual
    if flying[-1] < 2 * expected + _LEAST_IN_FLIGHT:
        return None
    seconds = window / 1e9
    return Saturation(now / 1e9, int(flying[-1]), float(arrivals.mean()) / seconds, float(answers.mean()) / seconds)


def join_saturation(seen: Sequence[Saturation]) -> Saturation:
    """What each of several client processes saw of one server, as of all of them."""
    return Saturation(
        min(one.at_s for one in seen),
        sum(one.in_flight for one in seen),
        sum(one.arrival_rate for one in seen),
        sum(one.answer_rate for one in seen),
    )
