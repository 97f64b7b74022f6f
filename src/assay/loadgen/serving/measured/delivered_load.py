"""Was the load that was asked for put on the server?

An open loop is judged by its rate, a closed one by the requests in flight. What held sends up is told apart: the cap on
requests in flight, which is the server's doing, and the client itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.loadgen.http.exchanges import Exchanges
from assay.loadgen.measured import Ints
from assay.loadgen.serving.measured.quantile import quantiles

LEAST_SHARE = 0.95
"""Share of the asked load below which the load was another one."""


@dataclass(frozen=True)
class DeliveredLoad:
    rate: float
    """Requests sent a second."""
    in_flight: float
    """Requests in flight, mean over the time in which requests were sent."""
    share: float
    """Delivered share of the asked load: of its rate, or of its requests in flight."""
    scheduled: int
    sent: int
    held_back: int
    """Requests that waited because the cap on requests in flight was reached."""
    lateness_p50: float
    lateness_p99: float
    """Nanoseconds from the intended to the real send."""
    own_share: float
    """What the share would be if only those sends counted that no cap held back: below 1, the client was late."""


def delivered_load(exchanges: Exchanges, concurrency: int | None, cap: int | None) -> DeliveredLoad:
    """`concurrency`: of a closed loop; `cap`: on the requests in flight of an open one."""
    rows = exchanges.rows
    sent_rows = rows[rows["sent_ns"] > 0]
    start = exchanges.start_ns
    late = sent_rows["sent_ns"] - sent_rows["intended_ns"]
    held = _held_back(rows["intended_ns"], rows["end_ns"], cap)
    p50, p99 = quantiles(late, [0.5, 0.99])
    last = int(sent_rows["sent_ns"].max()) if len(sent_rows) else start
    busy = float(np.sum(np.minimum(sent_rows["end_ns"], last) - np.minimum(sent_rows["sent_ns"], last)))
    in_flight = busy / (last - start) if last > start else float(len(sent_rows))
    share = _rate_share(rows["intended_ns"], rows["sent_ns"], start)
    own = _rate_share(rows["intended_ns"][~held], rows["sent_ns"][~held], start) if held.any() else share
    if concurrency is not None:
        # The last requests of a small run have nobody to take their place: only whole turns can be asked for.
        asked = min(concurrency, max(len(rows), 1))
        own, share = share, min(in_flight / asked, 1.0) if last > start else 1.0
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
    )


def _rate_share(intended: Ints, sent: Ints, start: int) -> float:
    """Sent ÷ scheduled, and less where the sends fell behind their times."""
    if not len(intended):
        return 1.0
    was = sent > 0
    span = int(intended.max()) - start
    order = np.argsort(intended[was], kind="stable")
    late = (sent - intended)[was][order]
    # How late the last tenth was, by its median: one late send at the end is not a rate.
    behind = max(float(np.median(late[-max(len(late) // 10, 1) :])), 0.0) if len(late) else 0.0
    pace = span / (span + behind) if span > 0 else 1.0
    return float(was.mean()) * pace


def _held_back(intended: Ints, end: Ints, cap: int | None) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Requests that found `cap` others unfinished when they were due."""
    held = np.zeros(len(intended), np.bool_)
    if cap is None or not len(intended):
        return held
    order = np.argsort(intended, kind="stable")
    unfinished = np.arange(len(intended)) - np.searchsorted(np.sort(end), intended[order], side="right")
    held[order] = unfinished >= cap
    return held
