from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread
from time import monotonic, monotonic_ns
from typing import TYPE_CHECKING

import numpy as np

from assay.files.json_text import read_json
from assay.files.reading import LOG, SESSION, Unreadable, last_lines
from assay.files.writing import write_atomic
from assay.loadgen.colocation.build_components import build_objectives, build_scheduler, build_stop
from assay.loadgen.colocation.colocation_config import LimitsConfig, PipelineConfig
from assay.loadgen.colocation.devices import find_device, gpu_watch, read_gpu_usage
from assay.loadgen.colocation.pipeline_limits import ControlGroup, pipeline_environment
from assay.loadgen.colocation.pipeline_worker import BOARD, CONFIG, ENDING, REPORTS, PipelineProgress, listener_notes
from assay.loadgen.colocation.policy import Condition, PipelineState
from assay.loadgen.colocation.policy_run import Recent, state_before
from assay.loadgen.driver.ending import Ending, How, where
from assay.loadgen.latency import Histogram
from assay.loadgen.load_result import LoadResult, StageReport, summarise
from assay.loadgen.shared_counters import (
    COMPLETED,
    ENDED_AT,
    FAILED,
    HEAD,
    OK,
    PAUSED_NS,
    PIPELINE,
    READY,
    RUNNING,
    SENT,
    START_AT,
    STARTED_AT,
    STATE,
    STOP,
    Board,
    SharedFolder,
)
from assay.loadgen.stop import EarlyStop
from assay.loadgen.trace_file import Rows, Spool, read_rows
from assay.process.limits import move_tree
from assay.process.spawn import continue_tree, set_frozen, stop_tree
from assay.process.spec import ProcessResult, ProcessSpec, unended_warnings
from assay.process.supervisor_client import Status, Supervised
from assay.record import OUTPUT_FILE, USAGE_FILE

if TYPE_CHECKING:
    from assay.loadgen.colocation.devices import GpuUsage


class Pause:
    """A pipeline's processes kept standing still, all of them, and for how long in all."""

    def __init__(self, board: Board, supervised: Supervised, group: ControlGroup) -> None:
        self._board = board
        self._supervised = supervised
        self._group = group
        self._freezer: Path | None = None
        self.since = 0
        """When the pause began, on the monotonic clock in nanoseconds; 0 while the pipeline runs."""

    @property
    def seconds(self) -> float:
        under_way = monotonic_ns() - self.since if self.since else 0
        return (self._board.page[PAUSED_NS] + under_way) / 1e9

    def begin(self) -> None:
        """Raises OSError where neither the freezer nor signals are permitted."""
        # Noted before it is done: an interrupt between the two must not leave the pipeline standing.
        self.since = monotonic_ns()
        self._freezer = self._find_freezer()
        try:
            if self._freezer is not None:
                set_frozen(str(self._freezer), True)
            else:
                stop_tree(self._supervised.tree)
        except OSError:
            self.end()
            raise

    def end(self) -> None:
        if not self.since:
            return
        # Counted before it goes on: its time limit, which may have passed meanwhile, looks at this number then.
        self._board.page[PAUSED_NS] += monotonic_ns() - self.since
        # A group or a tree that is gone has nothing left that could stand still.
        with suppress(OSError):
            if self._freezer is not None:
                set_frozen(str(self._freezer), False)
            else:
                continue_tree(self._supervised.tree)
        self.since = 0

    def _find_freezer(self) -> Path | None:
        """The freezer of the group that its processes are in; None where they were not permitted to enter one."""
        freezer = self._group.freezer
        with suppress(OSError):
            if freezer is not None and str(self._supervised.pid) in _inside(freezer.parent):
                return freezer
        return None


def _inside(group: Path) -> list[str]:
    return (group / "cgroup.procs").read_text().split()


_GRACE_S = 1.0
"""Seconds after its time limit at which a worker is ended from outside; it ends itself at the limit."""
GPU_SAMPLE_HZ = 5.0
"""Samples a second with a GPU: its energy is known between two samples only, so there are more than the kernel's
exact counts need."""
_CLOSING_S = 10.0
"""Seconds for tear-down after the last answer."""
RELEASE_IN_NS = 50_000_000
"""Nanoseconds before the start at which pipelines are told of it."""
_TOLD_NS = 5_000_000
"""Nanoseconds that the start lies ahead at least when a pipeline is told; it looks for it every millisecond."""


class PipelineProcess:
    """One pipeline from the outside: started, watched, drained, ended."""

    def __init__(self, config: PipelineConfig, results: Path, window_s: float | None = None) -> None:
        """`window_s`: seconds that the recent figures for a policy are of; None where there is no policy."""
        self.config = config
        self.results = results
        self.cpus, self.limits = config.cpus, config.limits
        results.mkdir(parents=True, exist_ok=True)
        self._shared = SharedFolder()
        self._folder = self._shared.path
        self.board = Board(self._folder / BOARD)
        self._scheduler = build_scheduler(config)
        self._objectives = build_objectives(config)
        self._before = state_before(config)
        self._live = Histogram()
        self._early = EarlyStop(self.board, build_stop(config), self._objectives)
        self._spool = Spool(self.board, results / "events.rows", self._see)
        self._recent = None if window_s is None else Recent(self._objectives, window_s)
        self._group = ControlGroup(self._folder.name, config.limits, freezable=window_s is not None)
        self._device = find_device(config.device)
        written = {
            "pipeline": config.model_dump(mode="json", exclude={"env"}),
            "device": self._device.for_stages,
            "control_groups": self._group.entrances,
        }
        write_atomic(self._folder / CONFIG, json.dumps(written))
        self._supervised = Supervised(self._spec())
        self.pause = Pause(self.board, self._supervised, self._group)
        self._statuses: deque[Status] = deque([Status(0.0, 0.0, 0.0)] * 2, maxlen=2)
        self._release_at: int | None = None
        self._answered = 0
        self._answered_at = 0
        self.ended: ProcessResult | None = None
        self._thread = Thread(target=self._wait, daemon=True, name=f"wait-{config.name}")
        self._thread.start()
        self._moved_at = monotonic()
        self._moved = (-1, -1)
        self._why = ""
        self._place: tuple[str, int | None, int | None] = ("", None, None)
        self.usage: dict[str, float] = {}
        self.gpu: GpuUsage | None = None

    def _spec(self) -> ProcessSpec:
        gpus = gpu_watch(self._device)
        return ProcessSpec(
            argv=[sys.executable, "-m", "assay.loadgen.colocation.pipeline_worker", str(self._folder)],
            env=pipeline_environment(self.config, self._device),
            cwd=Path.cwd(),
            stdout=self.results / "stdout.log",
            stderr=self.results / "stderr.log",
            combined=self.results / OUTPUT_FILE,
            usage_csv=self.results / USAGE_FILE,
            grace_s=0.5,
            sample_hz=2.0 if gpus is None else GPU_SAMPLE_HZ,
            gpus=gpus,
            cpus=self.config.cpus,
            nice=self.config.nice,
            freezer=self._group.freezer,
        )

    def _wait(self) -> None:
        for status in self._supervised.statuses():
            if status is not None:
                self._statuses.append(status)
        self.ended = self._supervised.result

    def _see(self, rows: Rows) -> None:
        queries = rows[(rows["stage"] == PIPELINE) & (rows["query"] >= 0) & (rows["status"] == OK)]
        self._live.add(np.asarray(queries["end"] - queries["intended"]))
        self._early(rows)
        if self._recent is not None:
            self._recent.see(rows)

    @property
    def ready(self) -> bool:
        return self.board.page[STATE] >= READY

    @property
    def over(self) -> bool:
        """Whether it has ended, or has said how it ended and is only closing."""
        return self.ended is not None or (self._folder / ENDING).exists()

    @property
    def failed(self) -> bool:
        """Whether it has ended, and not as it should."""
        if self._why:
            return True
        written = self._folder / ENDING
        if written.exists():
            return not Ending.from_json(read_json(written, SESSION, own=True)).success
        return self.ended is not None

    @property
    def condition(self) -> Condition:
        if self.over:
            return "ended"
        if self.pause.since:
            return "paused"
        return "running" if 0 < self.board.page[START_AT] <= monotonic_ns() else "waiting"

    @property
    def released(self) -> bool:
        """Whether it has been told its start, which can then no longer be put off."""
        return bool(self.board.page[START_AT])

    @property
    def held(self) -> bool:
        """Whether it stands still until somebody lets it go on."""
        return not self.over and (bool(self.pause.since) or (not self.released and self._release_at is None))

    def start(self, at: int | None) -> None:
        """Sets the instant, on the monotonic clock, at which it starts; None: not before another is named."""
        self._release_at = at
        self.release_due()

    def release_due(self) -> None:
        if self._release_at is not None and not self.released and self._release_at < monotonic_ns() + RELEASE_IN_NS:
            # Every pipeline is told a moment before, so that none begins late.
            self.board.page[START_AT] = max(self._release_at, monotonic_ns() + _TOLD_NS)

    def stop(self) -> None:
        """No more queries; those in flight are finished."""
        self.board.page[STOP] = 1
        self.pause.end()

    @property
    def stopping(self) -> bool:
        return bool(self.board.page[STOP])

    def place(self, cpus: tuple[int, ...]) -> None:
        move_tree(self._supervised.tree, cpus)
        self.cpus = cpus

    def resize(self, limits: LimitsConfig) -> None:
        paused = bool(self.pause.since)
        # Limits may put it into another group, and outside the frozen one it would go on.
        self.pause.end()
        try:
            self._group.resize(limits, self._supervised.tree)
        finally:
            if paused:
                self.pause.begin()
        self.limits = limits

    def drain(self) -> None:
        self._spool.drain()
        if self._recent is None:
            return
        if self.over:
            self.pause.end()
        page = self.board.page
        answered = page[COMPLETED] + page[FAILED]
        if answered != self._answered or self.pause.since or not self._in_flight:
            self._answered, self._answered_at = answered, monotonic_ns()

    def check(self, stall_timeout: float) -> None:
        """Ends a pipeline that has passed its time limit or does not move."""
        page = self.board.page
        if self.over or self._why or page[STATE] != RUNNING:
            return
        now = monotonic()
        moved = (page[COMPLETED] + page[FAILED], page[HEAD])
        if moved != self._moved or self.pause.since or not self.board.places():
            self._moved, self._moved_at = moved, now
        limit = self.config.loadgen.timeout
        running = (monotonic_ns() - page[STARTED_AT]) / 1e9 - self.pause.seconds
        if limit is not None and running > limit + _GRACE_S:
            self.end(f"the time limit of {limit:g} s was reached")
        elif now - self._moved_at > stall_timeout:
            self.end(f"nothing has moved for {stall_timeout:g} s (stall_timeout)")

    def end(self, why: str) -> None:
        """Ends it from outside, whatever it is doing."""
        self._why = why
        if self.board.page[STATE] >= RUNNING:
            self._place = where(self.board, self._names)
        self._supervised.end(why)

    def finish(self, listeners: Sequence[str] = ()) -> LoadResult:
        """Waits until no process is left, and says what was measured, and what of `listeners` was not."""
        self.pause.end()
        self._thread.join(_CLOSING_S)
        if self.ended is None:
            self._supervised.end("closing")
            self._thread.join()
        assert self.ended is not None
        self._spool.close()
        self.usage = {name: value for name, value in self.ended.usage.items() if isinstance(value, int | float)}
        result = summarise(
            read_rows(self._spool.path),
            self.board,
            self._ending(self.ended),
            self._names,
            self._scheduler,
            self.config.queries_at_once,
            self._objectives,
            self._reports(),
            [stage.id for stage in self.config.stages if stage.disable_logs],
            (*listener_notes(listeners, self.results / USAGE_FILE), *unended_warnings(self.ended.immortal)),
        )
        self.gpu = read_gpu_usage(self._device, self.ended.usage, self.results / USAGE_FILE, result)
        self._group.close()
        self._shared.close()
        return result

    def _reports(self) -> dict[int, StageReport]:
        written = self._folder / REPORTS
        found = read_json(written, SESSION, own=True) if written.exists() else {}
        return {int(stage): StageReport.from_json(report) for stage, report in found.items()}

    @property
    def _names(self) -> dict[int, str]:
        return {stage.id: stage.name or stage.component.rpartition(".")[2] for stage in self.config.stages}

    def _ending(self, ended: ProcessResult) -> Ending:
        written = self._folder / ENDING
        if written.exists():
            told = Ending.from_json(read_json(written, SESSION, own=True))
            # One that was ended from outside knows only that it was stopped; who ended it knows why.
            if not (self._why and told.how is How.KILLED):
                return told
        if ended.failure:
            return Ending(How.FAILED, ended.failure)
        if self._why:
            words, query, stage = self._place
            how = How.TIMED_OUT if "limit" in self._why or "stall" in self._why else How.KILLED
            return Ending(how, f"{self._why} {words}".strip(), query, stage)
        words, query, stage = where(self.board, self._names)
        code = ended.returncode
        died = f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with exit code {code}"
        tail = _last_line(self.results / "stderr.log")
        return Ending(How.KILLED, f"its process {died} {words}" + (f": {tail}" if tail else ""), query, stage)

    @property
    def _in_flight(self) -> int:
        """Queries in flight. A closed loop does not count every send as it happens, but the board says who is in a
        stage."""
        return max(self.board.in_flight, len(self.board.places()))

    def state(self, released_at: int) -> PipelineState:
        """The pipeline as a policy sees it; only where `window_s` was given."""
        assert self._recent is not None
        now, page, condition = monotonic_ns(), self.board.page, self.condition
        started, ended = page[STARTED_AT], page[ENDED_AT]
        before, last = self._statuses
        throughput, p50, p99 = self._recent.figures(now, started)
        return replace(
            self._before,
            condition=condition,
            seconds=max(((ended or now) - started) / 1e9, 0.0) if started else 0.0,
            paused_s=self.pause.seconds,
            sent=page[SENT],
            completed=page[COMPLETED],
            failed=page[FAILED],
            in_flight=self._in_flight,
            throughput=throughput,
            p50_s=p50,
            p99_s=p99,
            silent_s=(now - self._answered_at) / 1e9 if condition == "running" else 0.0,
            objectives=self._recent.objectives(now, released_at),
            cpu_s=last.cpu_s,
            cpus_busy=max(last.cpu_s - before.cpu_s, 0.0) / max(last.elapsed_s - before.elapsed_s, 0.1),
            rss_mb=last.rss_mb,
            gpu_pct=last.gpu_pct,
            gpu_memory_mb=last.gpu_memory_mb,
            cpus=self.cpus,
        )

    def progress(self) -> PipelineProgress:
        page = self.board.page
        started, ended = page[STARTED_AT], page[ENDED_AT]
        seconds = max(((ended or monotonic_ns()) - started) / 1e9, 0.0) if started else 0.0
        return PipelineProgress(
            pipeline=self.config.name,
            seconds=seconds,
            asked_rate=self._scheduler.rate,
            achieved_rate=page[COMPLETED] / seconds if seconds else 0.0,
            sent=page[SENT],
            completed=page[COMPLETED],
            failed=page[FAILED],
            in_flight=self.board.in_flight,
            p99_s=self._live.percentile(0.99) / 1e9,
        )


def _last_line(path: Path) -> str:
    try:
        lines = [line for line in last_lines(path, LOG, 4096) if line.strip()]
    except (FileNotFoundError, Unreadable):
        return ""
    return lines[-1].strip()[:300] if lines else ""
