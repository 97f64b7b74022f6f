from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any

from assay.pipeline.chain import Chain, SplitResult
from assay.pipeline.failure import PipelineError, portable
from assay.pipeline.resources import Worker
from assay.pipeline.split import Split

HELD = 2
"""Splits a worker holds: the one it works on and the next, so that it never waits for the driver."""


@dataclass
class _Member:
    process: ForkProcess
    connection: Connection
    held: list[int] = field(default_factory=list)


class WorkerPool:
    """Forked processes that take splits as they finish them. A result goes back through a pipe of its own worker."""

    def __init__(self, chain: Chain, count: int) -> None:
        self.chain = chain
        self.count = count

    def run(self, splits: Sequence[Split]) -> Iterator[SplitResult]:
        members: list[_Member] = []
        try:
            for index in range(self.count):
                members.append(self._start(Worker(index, self.count), splits, members))
            yield from self._collect(members, len(splits))
        finally:
            for member in members:
                member.connection.close()
                if member.process.is_alive() and member.held:
                    member.process.terminate()
            for member in members:
                member.process.join()

    def _start(self, worker: Worker, splits: Sequence[Split], earlier: list[_Member]) -> _Member:
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        # A worker that inherits our ends of other workers' pipes would keep them open after we are gone.
        not_its_own = [ours, *(member.connection for member in earlier)]
        process = context.Process(target=_work, args=(self.chain, worker, splits, theirs, not_its_own))
        process.start()
        theirs.close()
        return _Member(process, ours)

    def _collect(self, members: list[_Member], total: int) -> Iterator[SplitResult]:
        waiting = iter(range(total))
        for _ in range(HELD):
            for member in members:
                _give(member, waiting)
        done: dict[int, SplitResult] = {}
        due = 0
        while due < total:
            for connection in wait([member.connection for member in members if member.held]):
                member = next(member for member in members if member.connection is connection)
                result = _receive(member)
                member.held.remove(result.index)
                _give(member, waiting)
                done[result.index] = result
            while due in done:
                yield done.pop(due)
                due += 1


def _give(member: _Member, waiting: Iterator[int]) -> None:
    index = next(waiting, None)
    if index is not None:
        member.held.append(index)
        # A worker that has failed no longer listens; what it had to say is still in the pipe.
        with suppress(BrokenPipeError):
            member.connection.send(index)


def _receive(member: _Member) -> SplitResult:
    try:
        answer = member.connection.recv()
    except (EOFError, ConnectionResetError):
        member.process.join()
        code = member.process.exitcode
        raise PipelineError(
            f"a worker process died (exit code {code}) on split {member.held[0]}; "
            "if it was out of memory, use fewer --workers"
        ) from None
    if isinstance(answer, BaseException):
        raise answer
    assert isinstance(answer, SplitResult)
    return answer


def _work(
    chain: Chain, worker: Worker, splits: Sequence[Split], connection: Connection, close: Sequence[Connection]
) -> None:  # fmt: skip
    # An interrupt reaches the whole process group; the driver ends the workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Ended in the middle of a split, it still removes what it has half written.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    for other in close:
        other.close()
    try:
        chain.setup(worker)
        while True:
            try:
                index = connection.recv()
            except EOFError:
                break
            _send(connection, chain.run(splits[index]))
        chain.teardown()
    except Exception as error:  # noqa: BLE001  (whatever it is, the driver must hear of it)
        _send(connection, portable(error, "a worker could not go on"))


def _send(connection: Connection, answer: Any) -> None:
    with suppress(BrokenPipeError):
        connection.send(answer)
