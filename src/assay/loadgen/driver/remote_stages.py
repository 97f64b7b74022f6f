from __future__ import annotations

import pickle
import signal
from collections import deque
from collections.abc import Sequence
from copy import deepcopy
from multiprocessing import get_context
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from typing import Any

from assay.compat.stand_ins import install
from assay.errors import UsageError
from assay.loadgen.driver.graph_walker import Queue, Walker
from assay.loadgen.graph import Graph, Node
from assay.loadgen.sender import end_with_parent
from assay.loadgen.shared_counters import WORKERS
from assay.pipeline.stage import Stage, StreamStage, Worker
from assay.record.metric import Metric


class RemoteStage(Stage[Any, Any]):
    """A stage in a process of its own; payloads are pickled there and back. Who calls it waits without the GIL."""

    def __init__(self, stage: Stage[Any, Any]) -> None:
        self._stage = stage
        self.name = stage.name

    def setup(self, worker: Worker) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(pickle.dumps(self._stage), worker, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self._answer()

    def process(self, data: Any) -> Any:
        try:
            self._pipe.send((None, data))
        except BrokenPipeError:
            raise self._death() from None
        return self._answer()

    def start_measuring(self) -> None:
        self._ask("start_measuring")

    def measured(self) -> Sequence[Metric]:
        answer: Sequence[Metric] = self._ask("measured")
        return answer

    def notes(self) -> Sequence[str]:
        answer: Sequence[str] = self._ask("notes")
        return answer

    def _ask(self, method: str) -> Any:
        self._pipe.send((method, None))
        return self._answer()

    def _answer(self) -> Any:
        try:
            good, value = self._pipe.recv()
        except (EOFError, ConnectionResetError):
            raise self._death() from None
        if good:
            return value
        raise RuntimeError(value)

    def _death(self) -> RuntimeError:
        self._process.join(5)
        code = self._process.exitcode
        how = (
            f"killed by {signal.Signals(-code).name}"
            if code is not None and code < 0
            else f"ended with exit code {code}"
        )
        return RuntimeError(f"the stage's process was {how}" if code and code < 0 else f"the stage's process {how}")

    def teardown(self) -> None:
        self._pipe.close()
        self._process.join(2)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _serve(pickled: bytes, worker: Worker, pipe: Connection) -> None:
    end_with_parent()
    install()  # Before the stage's module is imported.
    try:
        stage: Stage[Any, Any] = pickle.loads(pickled)  # noqa: S301 - ours, from who has started this process
        stage.setup(worker)
        pipe.send((True, None))
    except Exception as error:  # noqa: BLE001  (reported to who asked)
        pipe.send((False, f"setup: {type(error).__name__}: {error}"))
        return
    while True:
        try:
            method, data = pipe.recv()
        except EOFError:
            break
        try:
            if method is not None:
                pipe.send((True, getattr(stage, method)()))
                continue
            result = stage.process(data)
            pipe.send((True, stage.collected(list(result)) if isinstance(stage, StreamStage) else result))
        except Exception as error:  # noqa: BLE001  (reported to who asked)
            pipe.send((False, f"{type(error).__name__}: {error}"))
    stage.teardown()


class Crew:
    """The workers of the stages that asked for threads or processes. A process has a thread here that waits for it.

    A worker that has run its stage goes on with the inline stages behind it, so a query changes hands only where
    overlap was asked for.
    """

    def __init__(self, graph: Graph, device: str, training: bool | None = None) -> None:
        self._graph = graph
        self._used = {used for node in graph.nodes for used in node.stage.uses}
        self.queues: dict[int, Queue] = {}
        self._members: list[tuple[Node, Stage[Any, Any], Worker]] = []
        self._set_up: list[Stage[Any, Any]] = []
        self._threads: list[Thread] = []
        for node in graph.nodes:
            if node.place != "inline":
                self.queues[node.id] = SimpleQueue()
                for index in range(node.workers):
                    worker = Worker(index, node.workers, device, training)
                    self._members.append((node, _replica(node, graph, index), worker))
        # Worker 0 is the thread that takes the queries in.
        if len(self._members) >= WORKERS:
            raise UsageError(f"a pipeline can have {WORKERS - 1} workers, not {len(self._members)}")

    def setup(self) -> None:
        for node, stage, worker in self._members:
            # A stage whose model others use was set up for them already: it is the same object.
            if stage is not node.stage or node.id not in self._used:
                stage.link(self._graph.stages_used_by(stage))
                stage.setup(worker)
            self._set_up.append(stage)

    def replicas(self, stage: int) -> list[Stage[Any, Any]]:
        return [replica for node, replica, _ in self._members if node.id == stage]

    def start(self, walker: Walker) -> None:
        for number, (node, stage, _) in enumerate(self._members, 1):
            thread = Thread(target=self._work, args=(walker, node, stage, number), daemon=True, name=f"stage-{node.id}")
            thread.start()
            self._threads.append(thread)

    def _work(self, walker: Walker, node: Node, stage: Stage[Any, Any], number: int) -> None:
        queue = self.queues[node.id]
        while (item := queue.get()) is not None:
            flow, payload = item
            try:
                walker.go_on(flow, deque([(node, payload)]), number, replica=stage)
            except Exception as error:  # noqa: BLE001  (a worker that is gone would leave the run waiting)
                walker.give_up(flow, node, error)
                return

    def stop(self, wait: bool) -> None:
        for node, _, _ in self._members:
            self.queues[node.id].put(None)
        if wait:
            for thread in self._threads:
                thread.join()
        for stage in self._set_up:
            if wait or isinstance(stage, RemoteStage):
                stage.teardown()


def _replica(node: Node, graph: Graph, index: int) -> Stage[Any, Any]:
    if node.place == "process":
        return RemoteStage(node.stage)
    # The data set's stage stays the one whose length was asked for.
    return node.stage if index == 0 and node.id != graph.dataset else deepcopy(node.stage)
