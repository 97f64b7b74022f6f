"""Was the load that was asked for put on the server?

An open loop is judged by its rate. A closed one asks for no rate: its places in flight are to hold a request all the
time, so it is judged by how long they stood empty, from an answer to the next send. What held sends up is told apart:
the cap on requests in flight and connections that had to be made anew, the server's doing, and the client itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.loadgen.http.exchanges import Exchanges
from assay.loadgen.measured import Ints
from assay.loadgen.serving.client_share import places_of
from assay.loadgen.serving.measured.quantile import quantiles

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
