"""The process of one pipeline.

    python -m assay.loadgen.colocation.pipeline_worker FOLDER

FOLDER holds its configuration and its board; how it ended is written there. Those who started it watch the board.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any

from assay.compat.stand_ins import install
from assay.errors import AssayError
from assay.files.writing import write_atomic
from assay.loadgen.colocation.build_components import build_graph, build_load
from assay.loadgen.colocation.colocation_config import ColocationConfig, PipelineConfig
from assay.loadgen.driver.driver import Driver
from assay.loadgen.driver.ending import Ending, How, StageFailed
from assay.loadgen.shared_counters import DONE, START_AT, STATE, STOP, Board
from assay.names import list_names, unknown

ALONE_S = 10.0
"""Length of a run of antagonists alone, where no pipeline of the file gives a duration."""


def as_run(pipelines: Sequence[PipelineConfig], file: ColocationConfig) -> tuple[PipelineConfig, ...]:
    """Pipelines as they run in this group, given the whole file.

    Beside one that is measured, an antagonist (`until: others_end`) has no bound. Among themselves each has its own:
    what it was given, or the longest duration of any pipeline of the file.
    """
    if any(pipeline.until == "own" for pipeline in pipelines):
        return tuple(_remove_bounds(pipeline) if pipeline.until == "others_end" else pipeline for pipeline in pipelines)
    longest = max((p.loadgen.duration for p in file.pipelines if p.loadgen.duration is not None), default=ALONE_S)
    return tuple(_add_bound(pipeline, longest) for pipeline in pipelines)


def _remove_bounds(pipeline: PipelineConfig) -> PipelineConfig:
    bounds = {"max_queries": None, "duration": None, "percentile": None, "min_duration": 0.0}
    return pipeline.model_copy(update={"loadgen": pipeline.loadgen.model_copy(update=bounds)})


def _add_bound(pipeline: PipelineConfig, longest: float) -> PipelineConfig:
    load = pipeline.loadgen
    if load.max_queries is None and load.duration is None and load.percentile is None and load.timeout is None:
        load = load.model_copy(update={"duration": longest})
    return pipeline.model_copy(update={"until": "own", "loadgen": load})


@dataclass(frozen=True)
class PipelineProgress:
    """How far one pipeline is, while it runs."""

    pipeline: str
    seconds: float
    asked_rate: float | None
    achieved_rate: float
    sent: int
    completed: int
    failed: int
    in_flight: int
    p99_s: float

    def __str__(self) -> str:
        asked = "as fast as it goes" if self.asked_rate is None else f"asked {self.asked_rate:g}/s"
        failed = f", {self.failed} failed" if self.failed else ""
        return (
            f"{self.pipeline}: {self.seconds:.1f} s, {asked}, achieved {self.achieved_rate:.1f}/s, "
            f"{self.in_flight} in flight, p99 {self.p99_s * 1e3:.3f} ms{failed}"
        )


# `listeners`: the programs with which users watched the machine, and where Assay has what they showed.


@dataclass(frozen=True)
class Watched:
    """`columns`: beginnings of the columns of usage.csv that hold it. `lacking`: why there may be none."""

    columns: tuple[str, ...]
    lacking: str


_GPU = Watched(("gpu",), "no counter of an NVIDIA GPU could be read")
_APPLE = Watched(("apple",), "it shows Apple's processors, and Assay reads Linux's counters only")
_TREE = Watched(("cpu_s", "rss_mb"), "the counters of /proc cannot be read")
_DISK = Watched(("read_mb", "write_mb"), "the counters of /proc cannot be read")
LISTENERS = {"smi": _GPU, "dcgmi": _GPU, "top": _TREE, "ps": _TREE, "free": _TREE, "iostat": _DISK, "macmon": _APPLE}


def listener_problem(name: str) -> str:
    return "" if name.lower() in LISTENERS else unknown("listener", name, LISTENERS)


def listener_notes(names: Sequence[str], usage: Path) -> tuple[str, ...]:
    """What was asked for and is not among the columns of a pipeline's usage.csv: one note for each reason."""
    columns = _columns(usage)
    lacking: dict[str, list[str]] = {}
    for name in names:
        watched = LISTENERS[name.lower()]
        if not any(column.startswith(watched.columns) for column in columns):
            lacking.setdefault(watched.lacking, []).append(name)
    return tuple(f"listeners: nothing of {list_names(named)} in usage.csv: {why}" for why, named in lacking.items())


def _columns(usage: Path) -> list[str]:
    """Columns with a value in any row; all columns where the run was too short for a row."""
    try:
        with usage.open(encoding="utf-8", newline="") as lines:
            header, *rows = csv.reader(lines)
    except (OSError, ValueError):
        return []
    return [name for name, *values in zip(header, *rows, strict=False) if not values or any(values)]


CONFIG = "pipeline.json"
BOARD = "board"
ENDING = "ending.json"
REPORTS = "reports.json"


def work(folder: Path) -> None:
    install()  # Never taken out again: this process is its stages' alone, and they may import whenever they run.
    written: dict[str, Any] = json.loads((folder / CONFIG).read_text())
    for entrance in written["control_groups"]:
        try:
            Path(entrance).write_text("0")
        except OSError:
            # Without a freezer it can still be stopped by signals; without its limits it must not run.
            if written["pipeline"]["limits"]:
                raise
    board = Board.open(folder / BOARD)
    driver: Driver | None = None
    ending: Ending | None = None
    try:
        pipeline = PipelineConfig.model_validate(written["pipeline"])
        driver = Driver(build_graph(pipeline), build_load(pipeline), board, folder, written["device"])
        driver.prepare()
        start_at = _start(board)
        ending = driver.run(start_at) if start_at else Ending(How.KILLED, "stopped before the start")
        _write(folder / REPORTS, {stage: report.to_json() for stage, report in driver.reports(ending).items()})
    except StageFailed as failure:
        ending = failure.ending()
    except AssayError as error:
        ending = Ending(How.FAILED, str(error))
    except Exception as error:  # noqa: BLE001  (set-up of a stage may raise anything; its reason is kept)
        ending = Ending(How.FAILED, f"while setting up: {type(error).__name__}: {error}")
    finally:
        if ending is not None:
            _write(folder / ENDING, ending.to_json())
        board.page[STATE] = DONE
        if driver is not None:
            driver.close(ending)


def _start(board: Board) -> int:
    """The barrier: every pipeline waits here until all are ready and one instant is named."""
    page = board.page
    while not page[START_AT] and not page[STOP]:
        sleep(0.001)
    return int(page[START_AT])


def _write(path: Path, content: Mapping[Any, Any]) -> None:
    write_atomic(path, json.dumps(content))


if __name__ == "__main__":
    work(Path(sys.argv[1]))
