"""The process of one pipeline.

    python -m assay.loadgen.colocation.running.worker FOLDER

FOLDER holds its configuration and its board; how it ended is written there. Those who started it watch the board.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from time import sleep
from typing import Any

from assay.errors import AssayError
from assay.fallback.stand_ins import install
from assay.loadgen.board import DONE, START_AT, STATE, STOP, Board
from assay.loadgen.colocation.build import build_graph, build_load
from assay.loadgen.colocation.config import PipelineConfig
from assay.loadgen.drive.driver import Driver
from assay.loadgen.drive.ending import Ending, How, StageFailed
from assay.untrusted.writing import write_atomic

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
