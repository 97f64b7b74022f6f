"""Statistics of timed tasks are metrics of the record: required, compared where asked for, sent to sinks."""

from __future__ import annotations

import json
from pathlib import Path

from workplace import Workplace

from assay.analysis import compare
from assay.analysis.rules import MetricRule, Rules
from assay.record import Fingerprint, Outcome, Record
from assay.record.task import MOST, is_task_metric
from assay.session.results.program_results import read_results

CONFIG = """
sinks: [{name: jsonl}]
entries:
  - name: load
    script: load.py
    metrics: {task_load_process_time_mean: {better: lower, margin: 5%}}
    requirements:
      - {metric: task_load_process_time_sum, max_value: 100}
      - {metric: task_load_process_time_p95, min_value: 0}
      - {metric: task_load_rows_sum, exact_value: 6}
  - name: slow
    script: load.py
    requirements: [{metric: task_load_process_time_mean, max_value: 1}, {metric: task_save_rows_sum, min_value: 1}]
"""
SCRIPT = """
import json, sys
from pathlib import Path
out = Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
(out / "params.json").write_text("{}")
(out / "metrics.json").write_text('{"rows": 6, "task_load_rows_std": "mine"}')
with (out / "tasks.jsonl").open("w") as tasks:
    for rows in (1, 2, 3):
        tasks.write(json.dumps({"stage": "load", "metrics": {"process_time": 2.0 * rows, "rows": rows}}) + "\\n")
"""


def test_statistics_of_tasks_are_required_kept_and_sent(workplace: Workplace) -> None:
    workplace.write("bench.yaml", CONFIG)
    workplace.write("load.py", SCRIPT)
    answer = workplace.assay("run", "--config", "bench.yaml")
    records = workplace.records()
    load, slow = records["load"], records["slow"]
    assert load.outcome is Outcome.PASSED, answer.out
    assert slow.outcome is Outcome.MISSED
    assert slow.reasons == (
        "task_load_process_time_mean is 4, required: ≤ 1",
        "task_save_rows_sum is required to be ≥ 1, but was not measured",
    )
    measured = load.metrics
    assert (measured["task_load_process_time_sum"].value, measured["task_load_process_time_sum"].unit) == (12.0, "s")
    assert (measured["task_load_rows_p50"].value, measured["task_load_rows_p50"].unit) == (2.0, None)
    assert measured["task_load_process_time_mean"].better == "lower"
    assert measured["task_load_rows_std"].value == "mine", "a program's own metric is never replaced"
    [line] = [json.loads(line) for line in _sent(workplace) if '"load"' in line]
    assert line["script_metrics"]["task_load_process_time_sum"] == 12.0
    assert line["metrics_detail"]["task_load_process_time_sum"] == {"unit": "s"}
    assert "rows 6" in answer.out
    assert "task_load_process_time_std" not in answer.out, "the summary has no room for statistics nobody asked for"


def _sent(workplace: Workplace) -> list[str]:
    [path] = workplace.sessions()[-1].path.glob("sinks/*.jsonl")
    return path.read_text().splitlines()


def test_what_is_too_much_or_too_large_harms_nothing(tmp_path: Path) -> None:
    (tmp_path / "params.json").write_text("{}")
    (tmp_path / "metrics.json").write_text("{}")
    numbers = ["1e308", "1e308", "-1e308", "1" + "0" * 400, "-1" + "0" * 400, "1e200"]
    lines = [f'{{"stage": "odd", "metrics": {{"x": {number}}}}}' for number in numbers]
    lines += [f'{{"stage": "s{at}", "metrics": {{"x": 1}}}}' for at in range(MOST)]
    (tmp_path / "tasks.jsonl").write_text("\n".join(lines))
    read = read_results(tmp_path, required=True)
    assert read.problems == []
    assert read.warnings == [f"the tasks give {6 * (MOST + 1)} statistics; {5 * MOST + 6} did not become metrics"]
    assert len(read.metrics) == MOST
    assert read.metrics["task_s0_x_sum"] == 1.0
    assert read.metrics["task_odd_x_sum"] != read.metrics["task_odd_x_sum"], "infinities of both signs: no number"


def test_statistics_of_tasks_are_compared_where_somebody_asks_for_it() -> None:
    declared = {"task_b_process_time_mean": {"better": "lower"}}
    base, head = (
        [
            Record(
                name="e", session=session, run_id=f"{session}/e/run-{run}", outcome=Outcome.PASSED,
                started_at=f"2026-01-01T00:00:{run:02d}+00:00", fingerprint=Fingerprint("e", "p", "w", "m"),
                script_metrics={
                    f"task_{stage}_process_time_mean": level * (1 + run / 1000) for stage in "abc"
                } | {"time_s": 1.0 + run / 1000},
                metrics_detail=declared,
            )
            for run in range(8)
        ]
        for session, level in (("one", 1.0), ("two", 2.0))
    )  # fmt: skip
    rules = Rules({("e", "task_c_process_time_mean"): MetricRule(better="lower")})
    rows = {row.metric: str(row.verdict) for row in compare(base, head, rules=rules).rows}
    assert rows.keys() == {"time_s", "task_b_process_time_mean", "task_c_process_time_mean", "exec_time_s"}
    assert rows["task_b_process_time_mean"] == rows["task_c_process_time_mean"] == "regressed"


def test_names_of_statistics_are_told_from_others() -> None:
    assert is_task_metric("task_load_process_time_p99")
    assert is_task_metric("task_api/no_op_process_time_sum")
    for name in ("task_success_rate", "tasks_x_sum", "stage_load_process_time_sum", "task_sum"):
        assert not is_task_metric(name)
