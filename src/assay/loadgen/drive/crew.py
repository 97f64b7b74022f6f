from __future__ import annotations

from collections import deque
from copy import deepcopy
from queue import SimpleQueue
from threading import Thread
from typing import Any

from assay.errors import UsageError
from assay.loadgen.board import WORKERS
from assay.loadgen.drive.remote_stage import RemoteStage
from assay.loadgen.drive.walker import Queue, Walker
from assay.loadgen.graph.graph import Graph
from assay.loadgen.graph.node import Node
from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage


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
