"""One load from several client processes: for rates that one core of the client cannot hold.

Requests are dealt out in the order of the schedule, places in flight and their cap as evenly as they go. Each process
connects, says so, and is told the time at which all of them begin; what they measured becomes one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from time import monotonic_ns
from typing import Any

import numpy as np

from assay.errors import AssayError
from assay.loadgen.http.exchanges import Exchanges
from assay.loadgen.pacing import end_with_parent
from assay.loadgen.serving.client_share import ClientShare, StartTime

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
