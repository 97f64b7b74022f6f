"""What the programs of this folder run on every executor, and the stages for it."""

from __future__ import annotations

import hashlib
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.pipeline.toy_stages import Numbers, Square, TextWriter

from assay.errors import AssayError
from assay.pipeline import ColumnBatch, Pipeline, Source, Stage, executor_named
from assay.pipeline.stage import Resources

RAY = ("ray_actors", "ray_data", "xenna")


class Slow(Stage[ColumnBatch, ColumnBatch]):
    """Fractions of a processor make room for it beside the others on a small cluster."""

    name = "slow"
    resources = Resources(cpus=0.5)

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def process(self, data: ColumnBatch) -> ColumnBatch:
        time.sleep(self.seconds)
        return data


class DieOnce(Stage[ColumnBatch, ColumnBatch]):
    """Kills its worker the first time it sees `n`."""

    name = "die_once"

    def __init__(self, n: int, marker: Path) -> None:
        self.n, self.marker = n, str(marker)

    def process(self, data: ColumnBatch) -> ColumnBatch:
        if self.n in data["n"]:
            try:
                os.close(os.open(self.marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return data
            os.kill(os.getpid(), signal.SIGKILL)
        return data


class Running(Stage[ColumnBatch, ColumnBatch]):
    """Keeps state: the sum so far. Right only if one replica sees everything in order."""

    name = "running"
    stateful = True
    total = 0

    def process(self, data: ColumnBatch) -> ColumnBatch:
        sums = []
        for n in data["n"]:
            self.total += n
            sums.append(self.total)
        return data.with_column("sum", sums)


class Rebatch(Square):
    name = "rebatch"
    batch_size = 3


def outcome(executor: str, source: Source, stages: Sequence[Stage[Any, Any]], workers: int | None = 2) -> Any:
    try:
        result = Pipeline(source, stages).run(executor_named(executor, workers=workers))
    except AssayError as error:
        return f"{type(error).__name__}: {error}"
    shown = [dict(out.columns) if isinstance(out, ColumnBatch) else out for out in result.outputs]
    calls = sorted((task.stage, task.metrics["rows_in"], task.metrics["rows_out"]) for task in result.tasks)
    return [shown, calls]


def parts(
    executor: str, folder: Path, splits: int, seconds: float = 0.0, workers: int | None = 2, rows: int = 10
) -> dict[str, Any]:
    """Part files, their bytes, and what the driver was told of them."""
    stages: list[Stage[Any, Any]] = [Slow(seconds), TextWriter(folder, ".txt")]
    source = Numbers(splits=splits, rows=rows, batch=max(4, rows // 20))
    result = Pipeline(source, stages).run(executor_named(executor, workers=workers))
    return {
        "files": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())},
        "told": [[Path(part.path).name, part.rows, part.size] for part in result.outputs],
        "timed": len({task.invocation for task in result.tasks}),
    }
