"""One load from several client processes: for rates that one core of the client cannot hold.

Requests are dealt out in the order of the schedule, places in flight and their cap as evenly as they go. Each process
connects, says so, and is told the time at which all of them begin; what they measured becomes one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import AssayError, UsageError
from assay.loadgen.http.exchanges import Exchanges
from assay.loadgen.http.http_client import RequestPlan
from assay.loadgen.http.open_client import Ceiling, measure_ceiling, open_client
from assay.loadgen.http.plain_client import PlainClient
from assay.loadgen.sender import end_with_parent

if TYPE_CHECKING:
    from assay.loadgen.serving.load_point import LoadPoint


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


_LEAD_NS = 20_000_000
"""Nanoseconds from when all are told of the start to the start."""


class ClientProcesses:
    """`run(share, start_time)` happens in a process of its own for each share."""

    def __init__(self, shares: Sequence[ClientShare], run: Callable[[ClientShare, StartTime], Any]) -> None:
        fork = get_context("fork")
        self._children: list[tuple[ForkProcess, Connection]] = []
        for share in shares:
            ours, theirs = fork.Pipe()
            child = fork.Process(target=_work, args=(run, share, theirs), daemon=True)
            child.start()
            theirs.close()
            self._children.append((child, ours))

    def results(self) -> list[Any]:
        """What each `run` returned. Raises what one of them raised, when all are over."""
        try:
            for _, pipe in self._children:
                _receive(pipe)
            begin = monotonic_ns() + _LEAD_NS
            for _, pipe in self._children:
                pipe.send(begin)
            return [_receive(pipe) for _, pipe in self._children]
        finally:
            for child, pipe in self._children:
                pipe.close()  # Ends a process that still waits for the start because another one failed.
                child.join()

    def stop(self) -> None:
        """End soon; what was measured by then is told."""
        for child, _ in self._children:
            if child.is_alive():
                child.terminate()


def _work(run: Callable[[ClientShare, StartTime], Any], share: ClientShare, pipe: Connection) -> None:
    end_with_parent()

    def start_time() -> int:
        pipe.send((True, None))
        return int(pipe.recv())

    try:
        pipe.send((True, run(share, start_time)))
    except AssayError as error:
        pipe.send((False, error))
    except EOFError:  # Another process failed: there is no start.
        return


def _receive(pipe: Connection) -> Any:
    try:
        good, said = pipe.recv()
    except EOFError:
        raise AssayError("a process of the client ended without a word") from None
    if not good:
        raise said
    return said


def join_exchanges(parts: Sequence[Exchanges]) -> Exchanges:
    """What several processes measured, as of one: rows by their intended times."""
    rows, pieces, bytes_before, connections = [], 0, 0, 0
    for part in parts:
        mine = part.rows.copy()
        mine["piece_start"] += pieces
        mine["body_start"] += bytes_before
        mine["connection"][mine["connection"] >= 0] += connections
        rows.append(mine)
        pieces += len(part.pieces)
        bytes_before += len(part.bodies)
        connections += part.connections
    joined = np.concatenate(rows)
    order = np.argsort(joined["intended_ns"], kind="stable")
    return Exchanges(
        rows=joined[order],
        pieces=np.concatenate([part.pieces for part in parts]),
        bodies=np.concatenate([part.bodies for part in parts]),
        start_ns=parts[0].start_ns,
        client=parts[0].client,
        cpu_s=sum(part.cpu_s for part in parts),
        connections=connections,
        process=np.repeat(np.arange(len(parts)), [len(part) for part in parts])[order],
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )


_REQUESTS = 1000


class ClientCeiling:
    """What the client gets through on this machine, measured once, after the first load: about a second."""

    def __init__(self) -> None:
        self._measured: Ceiling | None = None
        self.missing = ""
        """Why it could not be measured."""

    def __call__(self, point: LoadPoint) -> float | None:
        """Requests a second, of answers that come in as many receipts as those of the point."""
        if not point.answered or self.missing:
            return None
        if self._measured is None:
            plain = point.exchanges.client.startswith(PlainClient.name)
            try:
                self._measured = measure_ceiling(
                    requests=_REQUESTS // 5 if plain else _REQUESTS, make=PlainClient if plain else open_client
                )
            except AssayError as error:
                self.missing = str(error)
                return None
        cores = min(point.asked.processes, len(os.sched_getaffinity(0)))
        return self._measured.most_per_s(len(point.exchanges.pieces) / len(point.exchanges)) * cores
