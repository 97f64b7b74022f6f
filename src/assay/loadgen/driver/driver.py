from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Semaphore
from time import monotonic_ns, process_time_ns, sleep
from typing import TYPE_CHECKING, Any, Literal

from assay.loadgen.driver.ending import Ending, Flow, How, StageFailed, where
from assay.loadgen.driver.graph_walker import Walker
from assay.loadgen.driver.inline_walker import InlineWalker
from assay.loadgen.driver.pacing import (
    FOREVER,
    TimeLimit,
    Turn,
    concurrent_turns,
    gate_turns,
    open_turns,
    single_turns,
    time_limit,
)
from assay.loadgen.driver.query_chain import QueryChain
from assay.loadgen.driver.receiver import Reception
from assay.loadgen.driver.remote_stages import Crew
from assay.loadgen.graph import Graph, Node
from assay.loadgen.load_result import StageReport
from assay.loadgen.schedulers.arrivals import SingleStreamLoadScheduler
from assay.loadgen.schedulers.scheduler import Arrivals, LoadScheduler, blocks, draw, endless
from assay.loadgen.sender import precise_timers
from assay.loadgen.shared_counters import (
    COMPLETED,
    CPU_NS,
    CUT,
    DONE,
    ENDED_AT,
    FAILED,
    HELD,
    IGNORED,
    PAUSED_NS,
    READY,
    RUNNING,
    SENT,
    STARTED_AT,
    STATE,
    TEST,
    Board,
)
from assay.pipeline.stage import Stage

if TYPE_CHECKING:
    from assay.loadgen.stop import Stop, Warmup


Keep = Callable[[int, Any], None]


class Scoring:
    """Tells the data set's stage what came out of the measured queries. One that raises loses only its score."""

    def __init__(self, stage: Stage[Any, Any]) -> None:
        self._stage = stage
        self._failures = 0
        self._reason = ""

    @classmethod
    def of(cls, graph: Graph) -> Scoring | None:
        """None without a data set, or with one that scores nothing."""
        if graph.dataset is None:
            return None
        stage = graph.node(graph.dataset).stage
        return None if type(stage).score is Stage.score else cls(stage)

    def before(self, keep: Keep | None) -> Keep:
        def score(query: int, result: Any) -> None:
            if query >= 0:
                self._score(result)
            if keep is not None:
                keep(query, result)

        return score

    def _score(self, result: Any) -> None:
        try:
            self._stage.score(result)
        except Exception as error:  # noqa: BLE001  (a stage may raise anything; its queries were answered all the same)
            self._failures += 1
            self._reason = self._reason or f"{type(error).__name__}: {error}"

    def report(self, report: StageReport) -> StageReport:
        if not self._failures:
            return report
        said = f"{self._failures} results could not be scored: {self._reason}"
        return StageReport(report.metrics, (*report.notes, said))


Sender = Literal["auto", "inline", "process"]


@dataclass(frozen=True)
class Load:
    """All that decides which queries a pipeline gets and when."""

    scheduler: LoadScheduler
    stop: Stop
    queue_depth: int | None = None
    warmup: Warmup | None = None
    seed: int = 0
    sender: Sender = "auto"
    max_failures: int = 0
    training: bool | None = None


class Driver:
    """Takes a graph through set-up, warm-up and the measured part, in the thread that calls it."""

    def __init__(
        self,
        graph: Graph,
        load: Load,
        board: Board,
        folder: Path,
        device: str = "cpu",
        keep: Callable[[int, Any], None] | None = None,
    ) -> None:
        self._graph = graph
        self._load = load
        self._board = board
        self._folder = folder
        self._device = device
        self._scoring = Scoring.of(graph)
        self._keep = keep if self._scoring is None else self._scoring.before(keep)
        self._crew = Crew(graph, device, load.training)
        self._reception: Reception | None = None
        self._samples: int | None = None
        self._here: QueryChain | InlineWalker | None = None
        """What takes queries through the stages in this thread; None where stages have workers."""
        self._walker: Walker | None = None
        self._gate = Semaphore(load.scheduler.concurrency or 1)

    def prepare(self) -> None:
        """Set up the stages and warm them up. Nothing of this is measured."""
        self._graph.setup(self._device, self._load.training)
        self._crew.setup()
        self._samples = self._graph.samples()
        linear = self._graph.linear()
        failures = self._load.max_failures
        kept = None if self._keep is None else self._keep_measured
        if linear is not None:
            self._here = QueryChain(linear, self._board, self._samples, failures, self._keep)
        elif self._graph.inline:
            self._here = InlineWalker(self._graph, self._board, self._samples, failures, kept)
        else:
            self._walker = Walker(
                self._graph, self._board, self._crew.queues, failures, self._keep_measured, self._query_done
            )
            self._crew.start(self._walker)
        precise_timers()
        if self._load.warmup is not None:
            self._warm_up(self._load.warmup)
        for node in self._graph.nodes:
            for stage in self._replicas(node):
                stage.start_measuring()
        if self._load.scheduler.concurrency is None:
            self._arrivals, count = self._schedule()
            if self._load.sender == "process" or (self._load.sender == "auto" and not self._graph.inline):
                self._reception = Reception(self._arrivals, count, self._load.queue_depth, self._folder)
        self._board.page[STATE] = READY

    def run(self, start_at: int) -> Ending:
        page, stop = self._board.page, self._load.stop
        page[STARTED_AT] = start_at
        page[STATE] = RUNNING
        cpu = process_time_ns()
        left = None if stop.timeout is None else max((start_at - monotonic_ns()) / 1e9 + stop.timeout, 0.001)
        try:
            with time_limit(left, lambda: page[PAUSED_NS] / 1e9):
                self._pass(self._turns(start_at))
            ending = Ending(How.FINISHED)
        except StageFailed as failure:
            ending = failure.ending()
        except TimeLimit:
            words, query, stage = where(self._board, self._graph.names)
            how = How.TIMED_OUT if stop.limit_is_failure else How.FINISHED
            ending = Ending(how, f"the time limit of {stop.timeout:g} s was reached {words}", query, stage)
        page[CPU_NS] = process_time_ns() - cpu
        page[ENDED_AT] = monotonic_ns()
        self._board.write(0, TEST, start_at, start_at, page[ENDED_AT], status=0 if ending.success else 1)
        page[STATE] = DONE
        return ending

    def reports(self, ending: Ending) -> dict[int, StageReport]:
        """What each stage says of itself; a stage that says nothing is left out, and one that hangs is not asked."""
        found: dict[int, StageReport] = {}
        for node in self._graph.nodes if ending.how is not How.TIMED_OUT else ():
            report = StageReport.joined([_report(stage) for stage in self._replicas(node)])
            if self._scoring is not None and node.id == self._graph.dataset:
                report = self._scoring.report(report)
            if report.metrics or report.notes:
                found[node.id] = report
        return found

    def _replicas(self, node: Node) -> list[Stage[Any, Any]]:
        # Results are scored by the data set's stage of this process, wherever its workers are.
        scores = self._scoring is not None and node.id == self._graph.dataset
        return [node.stage] if scores else self._crew.replicas(node.id) or [node.stage]

    def close(self, ending: Ending | None) -> None:
        """Tears the stages down. Workers that may hang are not waited for."""
        if self._reception is not None:
            self._reception.close()
        self._crew.stop(wait=ending is not None and ending.how is not How.TIMED_OUT)
        self._graph.teardown()

    def _turns(self, start_at: int) -> Iterator[Turn]:
        page, load = self._board.page, self._load
        if self._reception is not None:
            return self._reception.turns(start_at, self._board)
        if load.scheduler.concurrency is None:
            return open_turns(self._arrivals, start_at, page)
        until = FOREVER if load.stop.send_for is None else start_at + int(load.stop.send_for * 1e9)
        while (early := start_at - monotonic_ns()) > 0:
            sleep(early / 1e9)
        return self._loop_turns(load.scheduler, load.stop.max_queries or FOREVER, until)

    def _loop_turns(self, scheduler: LoadScheduler, most: int, until: int) -> Iterator[Turn]:
        page, grouped = self._board.page, scheduler.grouped
        concurrency = min(scheduler.concurrency or 1, self._load.queue_depth or FOREVER)
        if self._walker is not None:
            self._gate = Semaphore(concurrency)
            return gate_turns(page, most, until, concurrency, grouped, self._gate)
        if concurrency == 1:
            return single_turns(page, most, until)
        return concurrent_turns(page, most, until, concurrency, grouped)

    def _pass(self, turns: Iterator[Turn]) -> None:
        if self._here is not None:
            self._here.run(turns, queued=self._reception is not None)
            return
        assert self._walker is not None
        entered = 0
        for query, intended, sent in turns:
            payload = query if self._samples is None else query % self._samples
            entered += 1
            self._walker.enter(Flow(query, intended, sent), payload, worker=0)
            if self._walker.failure is not None:
                break
        page = self._board.page
        while page[COMPLETED] + page[FAILED] < entered and self._walker.failure is None:
            sleep(0.0002)
        if self._walker.failure is not None:
            raise self._walker.failure

    def _query_done(self) -> None:
        self._gate.release()
        if self._reception is not None:
            self._reception.tell_completed(self._board)

    def _keep_measured(self, query: int, result: Any) -> None:
        if self._keep is not None and query >= 0:
            self._keep(query, result)

    def _warm_up(self, warmup: Warmup) -> None:
        # Where a number of queries is asked for, they follow each other: at a low rate they would take for ever.
        same = SingleStreamLoadScheduler() if warmup.seconds is None else self._load.scheduler
        scheduler = warmup.scheduler or same
        page = self._board.page
        start = monotonic_ns()
        if scheduler.concurrency is None:
            turns = open_turns(blocks(self._draw(scheduler, warmup.queries, warmup.seconds)), start, page)
        else:
            until = FOREVER if warmup.seconds is None else start + int(warmup.seconds * 1e9)
            turns = self._loop_turns(scheduler, warmup.queries or FOREVER, until)
        self._pass((-1 - query, intended, sent) for query, intended, sent in turns)
        for counter in (SENT, COMPLETED, FAILED, HELD, CUT, IGNORED):
            page[counter] = 0

    def _schedule(self) -> tuple[Iterator[Arrivals], int | None]:
        """Arrivals in blocks, and how many there are; None: without an end."""
        load = self._load
        if load.stop.on_request:
            return endless(load.scheduler, load.seed), None
        drawn = self._draw(load.scheduler, load.stop.max_queries, load.stop.send_for)
        return blocks(drawn), len(drawn)

    def _draw(self, scheduler: LoadScheduler, most: int | None, seconds: float | None) -> Arrivals:
        duration = None if seconds is None else int(seconds * 1e9)
        if not scheduler.ends(most is not None, duration is not None):
            # "Everything at once" is the data set, once.
            most = self._samples
        return draw(scheduler, self._load.seed, most, duration)


def _report(stage: Stage[Any, Any]) -> StageReport:
    try:
        return StageReport(tuple(stage.measured()), tuple(stage.notes()))
    except Exception as error:  # noqa: BLE001  (a stage that failed may have nothing left to tell; times are kept)
        return StageReport(notes=(f"its own figures cannot be had: {type(error).__name__}: {error}",))
