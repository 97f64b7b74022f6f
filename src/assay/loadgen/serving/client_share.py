from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from assay.errors import UsageError
from assay.loadgen.http.request_plan import RequestPlan


@dataclass(frozen=True)
class ClientShare:
    """What one of the processes sends."""

    plan: RequestPlan
    in_flight: int | None


StartTime = Callable[[], int]
"""Says that a process is ready, and when all of them begin (CLOCK_MONOTONIC)."""


def deal(plan: RequestPlan, in_flight: int | None, processes: int) -> list[ClientShare]:
    if plan.grouped:
        raise UsageError("--processes: this scheduler sends groups that wait for each other; leave one of the two out")
    if in_flight is not None and in_flight < processes:
        raise UsageError(f"--processes {processes} need at least as many places in flight, not {in_flight}")
    if plan.count < processes:
        raise UsageError(f"--processes {processes} need at least as many requests, not {plan.count}")
    shares = []
    for number in range(processes):
        mine = np.arange(number, plan.count, processes)
        order = (mine % len(plan.messages)).astype(np.int32) if plan.order is None else plan.order[mine]
        places = None if in_flight is None else places_of(number, in_flight, processes)
        at = None if plan.at_ns is None else plan.at_ns[mine]
        shares.append(ClientShare(replace(plan, count=len(mine), order=order, at_ns=at), places))
    return shares


def places_of(number: int, places: int, processes: int) -> int:
    """Places in flight of one process among several."""
    return len(range(number, places, processes))
