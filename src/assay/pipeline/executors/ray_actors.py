from __future__ import annotations

import multiprocessing
import signal
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError
from assay.pipeline.chain import Chain, SplitResult
from assay.pipeline.executors.envelope import Envelope, StageGroup
from assay.pipeline.executors.executor import Executor
from assay.pipeline.executors.ray_connection import places, ray_cluster
from assay.pipeline.source import Split
from assay.pipeline.stage import PipelineError, Worker, portable

if TYPE_CHECKING:
    from assay.pipeline.pipeline import Pipeline


HELD = 2
"""Splits a worker holds: the one it works on and the next, so that it never waits for the driver."""


@dataclass
class _PoolMember:
    process: ForkProcess
    connection: Connection
    held: list[int] = field(default_factory=list)


class WorkerPool:
    """Forked processes that take splits as they finish them. A result goes back through a pipe of its own worker."""

    def __init__(self, chain: Chain, count: int) -> None:
        self.chain = chain
        self.count = count

    def run(self, splits: Sequence[Split]) -> Iterator[SplitResult]:
        members: list[_PoolMember] = []
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

    def _start(self, worker: Worker, splits: Sequence[Split], earlier: list[_PoolMember]) -> _PoolMember:
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        # A worker that inherits our ends of other workers' pipes would keep them open after we are gone.
        not_its_own = [ours, *(member.connection for member in earlier)]
        process = context.Process(target=_work, args=(self.chain, worker, splits, theirs, not_its_own))
        process.start()
        theirs.close()
        return _PoolMember(process, ours)

    def _collect(self, members: list[_PoolMember], total: int) -> Iterator[SplitResult]:
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


def _give(member: _PoolMember, waiting: Iterator[int]) -> None:
    index = next(waiting, None)
    if index is not None:
        member.held.append(index)
        # A worker that has failed no longer listens; what it had to say is still in the pipe.
        with suppress(BrokenPipeError):
            member.connection.send(index)


def _receive(member: _PoolMember) -> SplitResult:
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


AHEAD = 8
"""Splits an actor may be ahead of the oldest unfinished one: what is done early waits on the driver."""
DEATHS = 3
"""Workers that may die on the same split before the split is taken to be what kills them."""


class RayActorsExecutor(Executor):
    """A pool of actors, each with the whole pipeline; splits go to whoever is free.

    The driver hands out splits and orders results. When a worker or its node dies, its splits go to others; a part
    that it had already written is written again, with the same bytes, under the same name.
    """

    name = "ray_actors"

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or None

    def run(self, pipeline: Pipeline) -> Iterator[SplitResult]:
        splits = pipeline.splits()
        group = StageGroup(pipeline.source, pipeline.stages)
        with ray_cluster(least_cpus=self.workers or 1) as ray:
            count = 1 if group.stateful else min(self.workers or places(ray, group.cpus, group.gpus), len(splits))
            pool = _Pool(ray, group, splits, count)
            try:
                yield from pool.run()
            finally:
                pool.end()


class SplitWorker:
    """What lives in an actor."""

    def __init__(self, group: StageGroup) -> None:
        self.group = group

    def setup(self, worker: Worker) -> AssayError | None:
        return self.group.setup(worker)

    def run(self, split: Split) -> SplitResult | AssayError:
        done = self.group.run(Envelope(split))
        return done.result() if isinstance(done, Envelope) else done

    def teardown(self) -> None:
        self.group.teardown()


@dataclass
class _Member:
    actor: Any
    worker: Worker
    ready: Any
    """The reference to its set-up; None once that is done."""
    held: dict[Any, int] = field(default_factory=dict)


class _Pool:
    def __init__(self, ray: Any, group: StageGroup, splits: Sequence[Split], count: int) -> None:
        self.ray = ray
        self.group = group
        self.splits = splits
        self.count = count
        self.code = ray.put(group)
        self.members: list[_Member] = []
        self.waiting = deque(range(len(splits)))
        self.deaths: dict[int, int] = {}
        self.lost_in_setup = 0

    def run(self) -> Iterator[SplitResult]:
        if not self.splits:
            return
        self.members = [self._start(Worker(index, self.count)) for index in range(self.count)]
        done: dict[int, SplitResult] = {}
        due = 0
        while due < len(self.splits):
            for member, reference in self._wait_for_finished():
                result = self._take(member, reference)
                if result is not None:
                    done[result.index] = result
            while due in done:
                yield done.pop(due)
                due += 1
            self._hand_out(due)

    def end(self) -> None:
        """Teardown where there is somebody to do it; then the actors go, and with them what they were doing."""
        alive = [member.actor for member in self.members if member.ready is None and not member.held]
        if alive:
            self.ray.wait([actor.teardown.remote() for actor in alive], num_returns=len(alive), timeout=10)
        for member in self.members:
            self.ray.kill(member.actor)

    def _start(self, worker: Worker) -> _Member:
        asks: dict[str, Any] = {"num_cpus": self.group.cpus, "num_gpus": self.group.gpus}
        if self.group.memory_mb is not None:
            asks["memory"] = self.group.memory_mb << 20
        remote = self.ray.remote(SplitWorker).options(**asks, scheduling_strategy="SPREAD", max_restarts=0)
        actor = remote.remote(self.code)
        return _Member(actor, worker, actor.setup.remote(worker))

    def _wait_for_finished(self) -> list[tuple[_Member, Any]]:
        pending = {}
        for member in self.members:
            for reference in [member.ready] if member.ready is not None else member.held:
                pending[reference] = member
        ready, _ = self.ray.wait(list(pending), num_returns=1)
        more, _ = self.ray.wait(list(pending), num_returns=len(pending), timeout=0)
        return [(pending[reference], reference) for reference in dict.fromkeys([*ready, *more])]

    def _take(self, member: _Member, reference: Any) -> SplitResult | None:
        if member not in self.members:
            return None
        try:
            answer = self.ray.get(reference)
        except self.ray.exceptions.RayError as error:
            self._bury(member, error)
            return None
        if isinstance(answer, AssayError):
            raise answer
        if reference is member.ready:
            member.ready = None
            self.lost_in_setup = 0
            return None
        del member.held[reference]
        return answer if isinstance(answer, SplitResult) else None

    def _bury(self, member: _Member, error: Exception) -> None:
        if self.group.stateful:
            raise PipelineError(f"the worker of a stage that keeps state died, and its state with it: {_line(error)}")
        # A worker takes its splits in order, so the first it held is the one it died on.
        for index in list(member.held.values())[:1]:
            self.deaths[index] = self.deaths.get(index, 0) + 1
            if self.deaths[index] >= DEATHS:
                raise PipelineError(
                    f"{DEATHS} workers in turn died on {self.splits[index]}; the last said: {_line(error)}"
                )
        if not member.held:
            self.lost_in_setup += 1
            if self.lost_in_setup >= DEATHS * self.count:
                raise PipelineError(f"no worker survives being set up; the last said: {_line(error)}")
        self.waiting.extendleft(sorted(member.held.values(), reverse=True))
        self.ray.kill(member.actor)
        self.members[self.members.index(member)] = self._start(member.worker)

    def _hand_out(self, due: int) -> None:
        horizon = due + AHEAD * self.count
        for _ in range(HELD):
            for member in self.members:
                free = member.ready is None and len(member.held) < HELD
                if free and self.waiting and self.waiting[0] < horizon:
                    index = self.waiting.popleft()
                    member.held[member.actor.run.remote(self.splits[index])] = index


def _line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
