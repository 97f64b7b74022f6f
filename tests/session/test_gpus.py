"""GPUs as the driver's library tells of them; tests/support/stand_in_nvml.py stands in for it."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest
from workplace import SOURCE, Workplace

STAND_IN = Path(__file__).parent.parent / "support/stand_in_nvml.py"
GIB = 2**30
FULL_GPU = {
    "used": 2 * GIB, "total": 80 * GIB, "utilisation": 40, "temperature": 61, "milliwatts": 250500,
    "milliwatts_limit": 700000, "fan": 30, "processes": [[1, GIB]],
}  # fmt: skip
SLICE = {"used": GIB // 2, "total": 10 * GIB, "processes": []}


@pytest.fixture
def with_gpus(workplace: Workplace) -> Workplace:
    workplace.write("driver/pynvml.py", STAND_IN.read_text())
    workplace.environment["PYTHONPATH"] = f"{workplace.folder / 'driver'}{os.pathsep}{SOURCE}"
    workplace.environment["STAND_IN_GPUS"] = str(workplace.folder / "gpus.json")
    workplace.write("gpus.json", json.dumps([FULL_GPU, SLICE]))
    return workplace


def test_every_gpu_has_rows_in_gpustats_while_an_entry_runs(with_gpus: Workplace) -> None:
    with_gpus.write("s.yaml", "gpu_stats_recorder: {interval_s: 0.1}\nentries: [{name: a, command: sleep 0.5}]\n")
    assert with_gpus.assay("run", "--config", "s.yaml").code == 0
    record = with_gpus.records()["a"]
    session = with_gpus.sessions()[-1].path
    assert record.files["gpu_stats"] == "a/gpustats.csv"
    rows = list(csv.DictReader((session / "a/gpustats.csv").open()))
    assert len(rows) >= 4
    assert {row["gpu_id"] for row in rows} == {"0", "1"}
    first, other = rows[:2]
    assert first["utilization_gpu_pct"] == "40"
    assert first["utilization_memory_pct"] == "2.50"
    assert (first["temperature_c"], first["power_draw_w"], first["power_limit_w"]) == ("61", "250.50", "700")
    assert (first["memory_used_mb"], first["memory_total_mb"]) == ("2048", "81920")
    [process] = json.loads(first["processes"])
    assert (process["pid"], process["gpu_memory_usage"]) == (1, 1024)
    assert (other["utilization_gpu_pct"], other["temperature_c"], other["processes"]) == ("", "", "[]")
    assert record.usage.gpu_peak_memory_mb == 2048
    assert record.warnings == ()


def test_an_interval_of_zero_records_nothing(with_gpus: Workplace) -> None:
    with_gpus.write("s.yaml", "gpu_stats_recorder: {interval_s: 0}\nentries: [{name: a, command: 'true'}]\n")
    assert with_gpus.assay("run", "--config", "s.yaml").code == 0
    assert "gpu_stats" not in with_gpus.records()["a"].files


def test_memory_in_use_before_and_after_a_run_is_warned_of(with_gpus: Workplace) -> None:
    busier = json.dumps([FULL_GPU | {"used": 8 * GIB}, SLICE])
    with_gpus.write("leak.py", f"import os; open(os.environ['STAND_IN_GPUS'], 'w').write({busier!r})\n")
    config = """
gpu_mem_use_warning_threshold: 0.04
entries:
  - {name: before, command: "true"}
  - {name: leaks, command: python leak.py}
  - {name: patient, command: "true", gpu_mem_use_warning_threshold: 0.5}
"""
    with_gpus.write("s.yaml", config)
    answer = with_gpus.assay("run", "--config", "s.yaml")
    assert answer.code == 0, answer.err
    records = with_gpus.records()
    before = "GPU 1: 5.0% of its memory (512 of 10240 MB) was in use before the run, "
    limit = "more than gpu_mem_use_warning_threshold 4.0%"
    after = before.replace("in use before", "still in use after")
    assert records["before"].warnings == (f"{before}{limit}", f"{after}{limit}")
    leak = f"GPU 0: 10.0% of its memory (8192 of 81920 MB) was still in use after the run, {limit}"
    assert records["leaks"].warnings == (f"{before}{limit}", leak, f"{after}{limit}")
    assert records["patient"].warnings == ()
    assert f"\t\twarning: {leak}" in answer.out.splitlines()


@pytest.mark.parametrize(
    ("gpus", "reason"),
    [
        (None, "the NVIDIA driver's library cannot be used: Driver Not Loaded"),
        ("[]", "the NVIDIA driver knows no GPU"),
    ],
)
def test_what_is_asked_of_gpus_that_are_not_there_is_said_once(
    with_gpus: Workplace, gpus: str | None, reason: str
) -> None:
    (with_gpus.folder / "gpus.json").unlink()
    if gpus is not None:
        with_gpus.write("gpus.json", gpus)
    config = """
gpu_stats_recorder: {}
gpu_mem_use_warning_threshold: 0.1
entries: [{name: a, command: "true"}, {name: b, command: "true"}]
"""
    with_gpus.write("s.yaml", config)
    answer = with_gpus.assay("run", "--config", "s.yaml")
    assert answer.code == 0
    assert [line for line in answer.err.splitlines() if "gpu_" in line] == [
        f"warning: gpu_stats_recorder: gpustats.csv is not written: {reason}",
        f"warning: gpu_mem_use_warning_threshold: no GPU's memory is looked at: {reason}",
    ]
    assert all(record.warnings == () for record in with_gpus.records().values())


def test_without_the_library_the_way_to_get_it_is_said(with_gpus: Workplace) -> None:
    with_gpus.write("driver/pynvml.py", "raise ImportError('no')\n")
    with_gpus.write("s.yaml", "gpu_stats_recorder: {interval_s: 1}\nentries: [{name: a, command: 'true'}]\n")
    answer = with_gpus.assay("plan", "--config", "s.yaml")
    assert (
        "gpustats.csv is not written: pynvml is not installed. Install it with: pip install 'assay-bench[gpu]'"
        in answer.out
    )
