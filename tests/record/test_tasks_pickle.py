"""`tasks.pkl` between Assay and nemo-curator's own `TaskPerfUtils`, in an environment without Assay."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from other_environment import other_python

import assay
from assay.benchmarks import alm_pipeline_benchmark, test_benchmark
from assay.record import TaskPerf, TaskPerfUtils
from assay.record.tasks_file import read_tasks

FIXTURE = "tests/fixtures/audio/alm/sample_input.jsonl"
OPEN = """
import pickle, sys
with open(sys.argv[1], "rb") as file:
    [task] = pickle.load(file)
[perf] = task._stage_perf
print(perf.stage_name, dict(perf.items()), [name for name in sys.modules if "assay" in name or "nemo" in name])
"""
READ = """
import importlib.util, json, pickle, sys
assert importlib.util.find_spec("assay") is None
from nemo_curator.tasks.utils import TaskPerfUtils
with open(sys.argv[1], "rb") as file:
    tasks = pickle.load(file)
json.dump(TaskPerfUtils.aggregate_task_metrics(tasks, prefix="task"), sys.stdout)
"""
WRITE = """
import json, pickle, sys
from nemo_curator.tasks import EmptyTask
from nemo_curator.tasks.utils import TaskPerfUtils
from nemo_curator.pipeline.workflow import WorkflowRunResult
from nemo_curator.utils.performance_utils import StagePerfStats
shared = StagePerfStats("download", process_time=4.0)
extract = StagePerfStats("extract", 1.0, num_items_processed=3, custom_metrics={"pages": 2.0})
tasks = [EmptyTask(_stage_perf=[shared, extract]), EmptyTask(_stage_perf=[shared])]
dedup = [EmptyTask(_stage_perf=[StagePerfStats("extract", 5.0), shared])]
content = tasks if sys.argv[2] == "list" else WorkflowRunResult("flow", {"fetch": tasks, "dedup": dedup})
with open(sys.argv[1], "wb") as out:
    pickle.dump(content, out)
json.dump(TaskPerfUtils.aggregate_task_metrics(content, prefix="task"), sys.stdout)
"""


def elsewhere(code: str, *words: str) -> dict[str, float]:
    command = [other_python(), "-I", "-c", code, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, float] = json.loads(done.stdout)
    return found


def ours(pipelines: Mapping[str, list[TaskPerf]]) -> dict[str, float]:
    found = TaskPerfUtils.aggregate_task_metrics(pipelines, prefix="task")
    return {name: value for name, value in found.items() if name.rpartition("_")[2] in ("sum", "mean", "std")}


def test_any_python_opens_it_with_its_standard_library_alone(tmp_path: Path) -> None:
    with assay.benchmark(["--benchmark-results-path", str(tmp_path)]) as b:
        b.add_tasks([TaskPerf("read", {"process_time": 2.0, "rows": 7.0})])
    command = [sys.executable, "-I", "-S", "-c", OPEN, str(tmp_path / "tasks.pkl")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "read {'process_time': 2.0, 'rows': 7.0} []\n"


def test_assay_reads_it_too_where_the_lines_are_missing(tmp_path: Path) -> None:
    with assay.benchmark(["--benchmark-results-path", str(tmp_path)]) as b:
        b.add_tasks([TaskPerf("read", {"process_time": 2.0}), TaskPerf("write", {"process_time": 3.0})])
    lines = read_tasks(tmp_path)
    (tmp_path / "tasks.jsonl").unlink()
    assert read_tasks(tmp_path) == lines
    assert lines.warnings == []


@pytest.mark.slow
def test_task_perf_utils_of_nemo_curator_reads_what_bundled_programs_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--benchmark-results-path", str(tmp_path / "sort"), "--iterations", "4", "--size", "50"]
    monkeypatch.setattr(sys, "argv", ["x", *words])
    test_benchmark.main()
    words = ["--benchmark-results-path", str(tmp_path / "alm"), "--input-manifest", FIXTURE]
    assert alm_pipeline_benchmark.main(words) == 0
    for program, some in (("sort", "task_sort_process_time_sum"), ("alm", "task_alm_data_builder_rows_in_sum")):
        theirs = elsewhere(READ, str(tmp_path / program / "tasks.pkl"))
        assert theirs == pytest.approx(ours({"": read_tasks(tmp_path / program).tasks}))
        assert theirs[some] > 0


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["list", "workflow"])
def test_assay_gives_what_task_perf_utils_gives_of_what_nemo_curator_pickled(tmp_path: Path, shape: str) -> None:
    theirs = elsewhere(WRITE, str(tmp_path / "tasks.pkl"), shape)
    read = read_tasks(tmp_path)
    assert read.warnings == []
    assert ours(read.pipelines) == pytest.approx(theirs)
    prefix = "task_" if shape == "list" else "task_fetch_"
    assert theirs[f"{prefix}download_process_time_sum"] == 4.0, "what two tasks share is counted once"
    assert theirs[f"{prefix}extract_custom.pages_sum"] == 2.0


def test_a_pickle_of_nothing_gives_no_tasks(tmp_path: Path) -> None:
    for content in ([], {}, None, {"pipeline_tasks": {"a": None}}, {"pipeline_tasks": 3}):
        (tmp_path / "tasks.pkl").write_bytes(pickle.dumps(content))
        assert read_tasks(tmp_path).tasks == []
