from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic_ns
from typing import Any

import numpy as np

from assay.loadgen.driver.driver import Driver, Load, Sender
from assay.loadgen.driver.ending import Ending, StageFailed
from assay.loadgen.graph import Graph
from assay.loadgen.latency import Objective
from assay.loadgen.load_result import LoadResult, StageReport, summarise
from assay.loadgen.schedulers.scheduler import LoadScheduler
from assay.loadgen.shared_counters import CAPACITY, Board, SharedFolder
from assay.loadgen.stop import EarlyStop, Stop, Warmup
from assay.loadgen.trace_file import Rows, Spool, SpoolThread, read_rows

_START_IN_NS = 20_000_000


class LoadGen:
    """Sends queries to a graph of stages in this process and says how they fared.

        LoadGen(Graph.chain([Tokenize(), Model()]), PoissonLoadScheduler(100), Stop(duration=10)).run()

    A pipeline in a process of its own, beside others or alone, is what `Colocation` runs.
    """

    def __init__(
        self,
        graph: Graph,
        scheduler: LoadScheduler,
        stop: Stop,
        queue_depth: int | None = None,
        *,
        warmup: Warmup | None = None,
        objectives: Sequence[Objective] = (),
        seed: int = 0,
        sender: Sender = "auto",
        max_failures: int = 0,
        training: bool | None = None,
        ring: int = CAPACITY,
        keep: Callable[[int, Any], None] | None = None,
    ) -> None:
        self._graph = graph
        self._load = Load(scheduler, stop, queue_depth, warmup, seed, sender, max_failures, training)
        self._objectives = tuple(objectives)
        self._ring = ring
        self._keep = keep

    def run(self, events: Path | None = None) -> LoadResult:
        """Raw rows go to `events`, if given; `recording.event_file` reads them."""
        with SharedFolder() as folder:
            board = Board(folder.path / "board", self._ring)
            path = events or folder.path / "events"
            stop = EarlyStop(board, self._load.stop, self._objectives)
            with SpoolThread(Spool(board, path, stop)):
                ending, reports = self._drive(board, folder.path)
            rows: Rows = read_rows(path)
            if events is None:
                rows = np.array(rows)
            return summarise(
                rows,
                board,
                ending,
                self._graph.names,
                self._load.scheduler,
                self._load.queue_depth,
                self._objectives,
                reports,
                self._graph.silent,
            )

    def _drive(self, board: Board, folder: Path) -> tuple[Ending, dict[int, StageReport]]:
        driver = Driver(self._graph, self._load, board, folder, keep=self._keep)
        ending: Ending | None = None
        reports: dict[int, StageReport] = {}
        try:
            driver.prepare()
            ending = driver.run(monotonic_ns() + _START_IN_NS)
            reports = driver.reports(ending)
        except StageFailed as failure:
            ending = failure.ending()
        finally:
            driver.close(ending)
        return ending, reports
