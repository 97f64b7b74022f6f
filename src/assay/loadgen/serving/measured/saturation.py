"""A server that is asked for more than it can do: requests pile up, and latency grows for as long as the load lasts.

Any mean or percentile of such a run says how long the run was, not how fast the server is. A server counts as saturated
when the requests in flight grew through three windows in a row while fewer were answered than came. The first answers
say how long a request takes in an idle server: until requests have been in flight for that long, growth says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.loadgen.measured import Ints

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
