from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from assay.errors import DataError
from assay.files.json_text import decode, encode
from assay.record import Fingerprint, Metric, Outcome, Record, Task, TaskPerf, TaskPerfUtils, Usage
from assay.record.results_file import append_record, read_records
from assay.record.tasks_file import read_tasks


def a_record(**changes: object) -> Record:
    values: dict = {
        "name": "e",
        "session": "s",
        "run_id": "s/e/run-01",
        "outcome": Outcome.PASSED,
        "started_at": "2026-01-01T00:00:00+00:00",
        "fingerprint": Fingerprint("e", "p", "w", "m"),
        "script_metrics": {"rows": 3, "speed": {"value": 2.0, "unit": "1/s", "better": "higher", "samples": [1, 2, 3]}},
        "tasks": (TaskPerf("read", {"process_time": 1.0}, "i1"),),
        "usage": Usage(samples=2, cpu_s=1.5),
    }
    return Record(**(values | changes))


def test_a_record_survives_its_json() -> None:
    record = a_record()
    assert Record.from_json(decode(encode(record.to_json()))) == record


def test_metrics_are_typed_and_what_assay_measured_stands_beside_them() -> None:
    metrics = a_record(exec_time_s=4.0).metrics
    assert metrics["speed"] == Metric("speed", 2.0, "1/s", "higher", (1.0, 2.0, 3.0))
    assert metrics["exec_time_s"].number == 4.0
    assert metrics["usage.cpu_s"].number == 1.5
    assert Metric("flag", True).number is None


def test_script_metrics_are_plain_in_whichever_form_they_were_written() -> None:
    speed = {"value": 2.0, "unit": "1/s", "note": "kept"}
    record = a_record(
        script_metrics={"rows": 3, "speed": speed, "odd": {"value": {"value": 1}}, "shape": {"a": 1}},
        metrics_detail={"rows": {"exact": True}, "speed": {"unit": "rows/s", "better": "higher"}},
    )
    written = record.to_json()
    assert written["script_metrics"] == {"rows": 3, "speed": 2.0, "odd": {"value": {"value": 1}}, "shape": {"a": 1}}
    assert written["metrics_detail"] == {
        "rows": {"exact": True}, "speed": {"unit": "1/s", "better": "higher", "note": "kept"},
    }  # fmt: skip
    assert record.metrics["speed"] == Metric("speed", 2.0, "1/s", "higher")
    assert record.metrics["odd"].value == {"value": 1}


def test_what_json_has_no_word_for_is_kept_and_stays_valid_json() -> None:
    text = encode({"a": math.nan, "b": [math.inf, -math.inf]})
    assert "NaN" not in text
    assert json.loads(text)
    back = decode(text)
    assert math.isnan(back["a"])
    assert back["b"] == [math.inf, -math.inf]


def test_a_line_cut_short_by_a_crash_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    append_record(path, a_record(run_id="1"))
    with path.open("a") as out:
        out.write('{"name": "half')
    append_record(path, a_record(run_id="2"))
    assert [record.run_id for record in read_records(path)] == ["1", "2"]


def test_a_record_of_the_older_framework_is_read() -> None:
    record = Record.from_json({"name": "old", "success": True, "exec_time_s": 3.5, "timeout": False, "returncode": 0})
    assert (record.outcome, record.exec_time_s, record.schema_version) == (Outcome.PASSED, 3.5, 2)
    assert Record.from_json({"name": "old", "success": False, "timeout": True}).timeout


def test_a_record_of_a_newer_assay_is_refused_by_name() -> None:
    with pytest.raises(DataError, match="schema version 99"):
        Record.from_json({"name": "x", "schema_version": 99})


def test_tasks_are_counted_once_however_copied() -> None:
    perf = TaskPerf("read", {"process_time": 2.0})
    copied = pickle.loads(pickle.dumps(perf))
    assert TaskPerfUtils.collect_stage_metrics([perf, copied, perf]) == {"read": {"process_time": [2.0]}}


def test_statistics_of_tasks_have_the_documented_names_and_values() -> None:
    perfs = [TaskPerf("read", {"process_time": float(i)}) for i in range(1, 101)]
    got = TaskPerfUtils.aggregate_task_metrics(perfs, prefix="task")
    assert got["task_read_process_time_sum"] == 5050
    assert got["task_read_process_time_mean"] == 50.5
    assert got["task_read_process_time_std"] == pytest.approx(28.866070047722118)
    assert got["task_read_process_time_p50"] == 50.5
    assert got["task_read_process_time_p95"] == pytest.approx(95.05)
    assert got["task_read_process_time_p99"] == pytest.approx(99.01)


def test_a_task_that_stands_for_many_calls_counts_as_many_in_sums() -> None:
    perfs = [TaskPerf("read", {"process_time": 2.0, "stands_for": 50.0}) for _ in range(10)]
    assert TaskPerfUtils.aggregate_task_metrics(perfs) == {
        "read_process_time_sum": 1000.0,
        "read_process_time_mean": 2.0,
        "read_process_time_std": 0.0,
        "read_process_time_p50": 2.0,
        "read_process_time_p95": 2.0,
        "read_process_time_p99": 2.0,
    }


def test_a_task_is_a_timed_block() -> None:
    before = len(Task.get_all_tasks())
    with Task("load", TaskPerfUtils()) as task:
        task.record("rows", 7)
    perf = Task.get_all_tasks()[before]
    assert perf.stage == "load"
    assert perf.metrics["rows"] == 7
    assert perf.metrics["process_time"] >= 0


class Bomb:
    def __reduce__(self) -> tuple:
        return os.system, ("touch exploded",)


def test_a_pickle_that_would_run_code_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tasks.pkl").write_bytes(pickle.dumps([Bomb(), {"stage": "s", "metrics": {"t": 1}}]))
    read = read_tasks(tmp_path)
    assert not (tmp_path / "exploded").exists()
    assert [perf.stage for perf in read.tasks] == ["s"]
    assert "system" in read.warnings[0]


CURATOR = """
import pickle, sys, types, dataclasses
for name in ("nemo_curator", "nemo_curator.tasks", "nemo_curator.utils", "nemo_curator.utils.performance_utils"):
    sys.modules[name] = types.ModuleType(name)
class StagePerfStats:
    __slots__ = ("stage_name", "process_time", "num_items_processed", "custom_metrics")
    def __init__(self, *values):
        for name, value in zip(self.__slots__, values): setattr(self, name, value)
    def __getstate__(self): return {name: getattr(self, name) for name in self.__slots__}
    def __setstate__(self, state):
        for name, value in state.items(): setattr(self, name, value)
StagePerfStats.__module__ = "nemo_curator.utils.performance_utils"
sys.modules[StagePerfStats.__module__].StagePerfStats = StagePerfStats
class AudioTask:
    def __init__(self, perf): self._stage_perf, self.data, self.task_id = perf, {"x": 1}, "a_0"
AudioTask.__module__ = "nemo_curator.tasks"; sys.modules["nemo_curator.tasks"].AudioTask = AudioTask
shared = StagePerfStats("reader", 1.5, 10, {"read_s": 0.5})
tasks = [AudioTask([shared]), AudioTask([shared, StagePerfStats("builder", 2.5, 4, {})])]
pickle.dump(tasks, open(sys.argv[1], "wb"))
"""


def test_a_pickle_of_nemo_curator_is_read_without_it(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", CURATOR, str(tmp_path / "tasks.pkl")], check=True)
    read = read_tasks(tmp_path)
    stages = TaskPerfUtils.collect_stage_metrics(read.tasks)
    assert stages["reader"]["process_time"] == [1.5]
    assert stages["reader"]["custom.read_s"] == [0.5]
    assert stages["builder"]["num_items_processed"] == [4.0]
    assert read.warnings == []


@pytest.mark.parametrize("content", [b"", b"\x80\x04.", b"garbage", b"\x80\x05\x95\xff\xff\xff\xff\xff\xff\xff\x7f"])
def test_a_broken_pickle_is_a_warning(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tasks.pkl").write_bytes(content)
    read = read_tasks(tmp_path)
    assert read.tasks == []
    assert len(read.warnings) == 1


def test_a_bad_line_of_tasks_is_left_out_and_named(tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text('{"stage": "a", "seconds": 1}\nnot json\n{"metrics": {}}\n')
    read = read_tasks(tmp_path)
    assert [(perf.stage, dict(perf.metrics)) for perf in read.tasks] == [("a", {"seconds": 1.0})]
    assert [warning.split(":")[1] for warning in read.warnings] == ["2", "3"]


def test_a_run_that_ended_before_the_first_sample_has_cpu_and_memory() -> None:
    short = a_record(usage=Usage(wall_s=0.001, cpu_s=0.0008, peak_rss_mb=9.0, samples=0))
    assert short.metrics["usage.cpu_s"].number == 0.0008
    assert "usage.cpu_s" not in a_record(usage=Usage()).metrics
