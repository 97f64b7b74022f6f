from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from threading import Thread
from time import monotonic, monotonic_ns

import numpy as np

import assay
from assay.loadgen.board import (
    COMPLETED,
    ENDED_AT,
    FAILED,
    HEAD,
    OK,
    PIPELINE,
    READY,
    RUNNING,
    SENT,
    START_AT,
    STARTED_AT,
    STATE,
    STOP,
    Board,
)
from assay.loadgen.colocation.build import build_objectives, build_scheduler, build_stop
from assay.loadgen.colocation.config import PipelineConfig
from assay.loadgen.colocation.device import device_environment
from assay.loadgen.colocation.limits import ControlGroup
from assay.loadgen.colocation.progress import Progress
from assay.loadgen.colocation.worker import BOARD, CONFIG, ENDING, REPORTS
from assay.loadgen.drive.ending import Ending, How, where
from assay.loadgen.early_stop import EarlyStop
from assay.loadgen.latency.histogram import Histogram
from assay.loadgen.recording.spool import Rows, Spool, read_rows
from assay.loadgen.result import LoadResult, summarise
from assay.loadgen.shared_folder import SharedFolder
from assay.loadgen.stage_report import StageReport
from assay.process.result import ProcessResult
from assay.process.spec import ProcessSpec
from assay.process.supervised import Supervised
from assay.untrusted.json_text import read_json
from assay.untrusted.read_limit import LOG, SESSION
from assay.untrusted.text_file import last_lines
from assay.untrusted.unreadable import Unreadable

_GRACE_S = 1.0
"""A worker ends itself at its time limit; this much later it is ended."""
_CLOSING_S = 10.0
"""For tear-down after the last answer."""


class PipelineProcess:
    """One pipeline from the outside: started, watched, drained, ended."""

    def __init__(self, config: PipelineConfig, results: Path) -> None:
        self.config = config
        self.results = results
        results.mkdir(parents=True, exist_ok=True)
        self._shared = SharedFolder()
        self._folder = self._shared.path
        self.board = Board(self._folder / BOARD)
        self._scheduler = build_scheduler(config)
        self._objectives = build_objectives(config)
        self._live = Histogram()
        self._early = EarlyStop(self.board, build_stop(config), self._objectives)
        self._spool = Spool(self.board, results / "events.rows", self._see)
        self._group = None if config.limits is None else ControlGroup(self._folder.name, config.limits)
        written = {
            "pipeline": config.model_dump(mode="json"),
            "control_groups": self._group.entrances if self._group else [],
        }
        (self._folder / CONFIG).write_text(json.dumps(written))
        self._supervised = Supervised(self._spec())
        self.ended: ProcessResult | None = None
        self._thread = Thread(target=self._wait, daemon=True, name=f"wait-{config.name}")
        self._thread.start()
        self._moved_at = monotonic()
        self._moved = (-1, -1)
        self._why = ""
        self._place: tuple[str, int | None, int | None] = ("", None, None)
        self.usage: dict[str, float] = {}

    def _spec(self) -> ProcessSpec:
        # The checkout, the user's own modules and this process's view of both.
        path = [str(Path(assay.__file__).parent.parent), *(entry for entry in sys.path if entry)]
        environment = {
            **os.environ,
            **device_environment(self.config.device),
            "PYTHONPATH": os.pathsep.join(dict.fromkeys(path)),
        }
        return ProcessSpec(
            argv=[sys.executable, "-m", "assay.loadgen.colocation.worker", str(self._folder)],
            env=environment,
            cwd=Path.cwd(),
            stdout=self.results / "stdout.log",
            stderr=self.results / "stderr.log",
            combined=self.results / "stdouterr.log",
            usage_csv=self.results / "usage.csv",
            grace_s=0.5,
            sample_hz=2.0,
            cpus=self.config.cpus,
            nice=self.config.nice,
        )

    def _wait(self) -> None:
        self.ended = self._supervised.wait()

    def _see(self, rows: Rows) -> None:
        queries = rows[(rows["stage"] == PIPELINE) & (rows["query"] >= 0) & (rows["status"] == OK)]
        self._live.add(np.asarray(queries["end"] - queries["intended"]))
        self._early(rows)

    @property
    def ready(self) -> bool:
        return self.board.page[STATE] >= READY

    @property
    def over(self) -> bool:
        """It has ended, or has said how it ended and is only closing."""
        return self.ended is not None or (self._folder / ENDING).exists()

    @property
    def failed(self) -> bool:
        """It has ended, and not as it should."""
        if self._why:
            return True
        written = self._folder / ENDING
        if written.exists():
            return not Ending.from_json(read_json(written, SESSION, own=True)).success
        return self.ended is not None

    def start(self, at: int) -> None:
        self.board.page[START_AT] = at

    def stop(self) -> None:
        """No more queries; those in flight are finished."""
        self.board.page[STOP] = 1

    def drain(self) -> None:
        self._spool.drain()

    def check(self, stall_timeout: float) -> None:
        """Ends a pipeline that has passed its time limit or does not move."""
        page = self.board.page
        if self.over or self._why or page[STATE] != RUNNING:
            return
        now = monotonic()
        moved = (page[COMPLETED] + page[FAILED], page[HEAD])
        if moved != self._moved or not self.board.places():
            self._moved, self._moved_at = moved, now
        limit = self.config.loadgen.timeout
        running = (monotonic_ns() - page[STARTED_AT]) / 1e9
        if limit is not None and running > limit + _GRACE_S:
            self.end(f"the time limit of {limit:g} s was reached")
        elif now - self._moved_at > stall_timeout:
            self.end(f"nothing has moved for {stall_timeout:g} s (stall_timeout)")

    def end(self, why: str) -> None:
        """From outside, whatever it does."""
        self._why = why
        self._place = where(self.board, self._names)
        self._supervised.end(why)

    def finish(self) -> LoadResult:
        """Waits until no process is left, and says what was measured."""
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
            self.config.loadgen.queue_depth,
            self._objectives,
            self._reports(),
        )
        if self._group is not None:
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
            return Ending.from_json(read_json(written, SESSION, own=True))
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

    def progress(self) -> Progress:
        page = self.board.page
        started, ended = page[STARTED_AT], page[ENDED_AT]
        seconds = max(((ended or monotonic_ns()) - started) / 1e9, 0.0) if started else 0.0
        return Progress(
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
