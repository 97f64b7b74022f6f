"""What an executor costs beside the work itself, and whether its driver grows with the data.

    python -m bench.executors [EXECUTOR…]

The same pipeline over one and over eight times the data, in as many splits: CPU and memory of the driver, wall time,
and the stages' own CPU. Run it in a namespace of its own if another Ray cluster is about (see docs/executors.md).
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from assay.benchmarks.data.documents import Corpus, write_documents
from assay.pipeline import Pipeline, executor_named
from assay.pipeline.executors.executor import EXECUTORS
from assay.stages.text.documents import DocumentReader
from assay.stages.text.key_store import ExactKeys, KeyWriter

FILES, DOCUMENTS, TIMES = 16, 8_000, 8


def measure(executor: str, folder: Path, work: Path) -> str:
    source = DocumentReader(str(folder / "documents"))
    runner = executor_named(executor, workers=2)
    used, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    result = Pipeline(source, [ExactKeys("id", "text"), KeyWriter(work)]).run(runner)
    wall = time.perf_counter() - started
    now = resource.getrusage(resource.RUSAGE_SELF)
    driver = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    stages = sum(task.metrics["cpu_time"] for task in result.tasks)
    rows = sum(part.rows for part in result.outputs)
    return f"{rows:9} {wall:8.2f} {driver:11.2f} {stages:11.2f} {now.ru_maxrss / 1024:12.0f}"


def main(names: list[str]) -> None:
    if names[:1] == ["--one"]:
        print(measure(names[1], Path(names[2]), Path(names[3])))
        return
    with tempfile.TemporaryDirectory() as scratch:
        for times in (1, TIMES):
            write_documents(Path(scratch) / str(times), Corpus(DOCUMENTS * times, files=FILES, seed=8))
        print(f"{'':11} {'documents':>9} {'wall s':>8} {'driver CPU':>11} {'stages CPU':>11} {'driver peak MB':>12}")
        for name in names or EXECUTORS:
            for times in (1, TIMES):
                words = ["--one", name, str(Path(scratch) / str(times)), str(Path(scratch) / f"{name}-{times}")]
                # A process each: a driver's peak is of one run only.
                done = subprocess.run(
                    [sys.executable, "-m", "bench.executors", *words],
                    capture_output=True, text=True, check=False, env=os.environ,
                )  # fmt: skip
                if done.returncode:
                    raise SystemExit(f"{name} failed:\n{done.stderr[-2000:]}")
                print(f"{name:11} {done.stdout.strip().splitlines()[-1]}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
