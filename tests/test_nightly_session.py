"""Assay measures Assay: the session that `make nightly` runs, with tiny sizes, and whether its gate notices."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from workplace import Workplace

ROOT = Path(__file__).parents[1]
NIGHTLY = ROOT / "bench" / "nightly.yaml"
SHORT = ROOT / "bench" / "nightly_short.yaml"
PARTS = ("alm", "history", "load", "runner", "serving", "text", "weights")
TINY = {
    "alm": ["--recordings", "500"],
    "history": ["--sessions", "2"],
    "load": ["--queries", "50"],
    "runner": ["--entries", "1"],
    "serving": ["--requests", "32"],
    "text": ["--documents", "100"],
    "weights": ["--parameters", "20000"],
}
JUDGED = {
    "alm": {"cpu_us_per_recording"},
    "history": {"cpu_us_per_value", "cpu_us_per_question"},
    "load": {"cpu_us_per_query"},
    "runner": {"cpu_ms_per_session"},
    "serving": {"cpu_us_per_request"},
    "text": {"cpu_us_per_document_removed", "cpu_us_per_document_digested"},
    "weights": {
        f"{setting}_{what}"
        for setting in ("balanced", "fast")
        for what in ("checkout_over_safetensors", "commit_over_safetensors", "of_limit", "stored_bytes")
    },
}
PATHS = f"{ROOT}:{ROOT / 'tests' / 'support'}"


@pytest.mark.parametrize("files", [[NIGHTLY], [NIGHTLY, SHORT]], ids=["whole", "short"])
def test_the_session_plans_every_part_with_enough_runs_for_a_verdict(files: list[Path], workplace: Workplace) -> None:
    told = workplace.assay("plan", *(word for file in files for word in ("--config", str(file))))
    assert told.code == 0, told.err
    assert f"{len(PARTS)} entries, {6 * len(PARTS)} runs" in told.out
    for part in PARTS:
        assert f"bench/nightly/{part}.py" in told.out


@pytest.mark.parametrize("part", PARTS)
def test_every_program_says_unit_direction_and_margin_of_what_is_judged(part: str, tmp_path: Path) -> None:
    program = str(ROOT / "bench" / "nightly" / f"{part}.py")
    words = [*TINY[part], "--rounds", "1", "--benchmark-results-path", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": PATHS}
    done = subprocess.run(
        [sys.executable, program, *words], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    values = json.loads((tmp_path / "metrics.json").read_text())
    details = json.loads((tmp_path / "metrics_detail.json").read_text())
    judged = {name for name, detail in details.items() if detail.get("better")}
    assert judged == JUDGED[part]
    assert all(values[name] > 0 and details[name].get("margin") for name in judged)
    assert all(details[name]["unit"] == name.split("_")[1].replace("us", "µs") for name in judged if "cpu_" in name)


@pytest.mark.slow
def test_a_part_that_does_three_times_the_work_is_named_and_nothing_else(workplace: Workplace) -> None:
    results = str(workplace.folder / "results")
    sizes = [
        "--set",
        "entries.load.args=--queries 3000 --rounds 2",
        "--set",
        "entries.history.args=--sessions 3 --rounds 2",
    ]
    night = ["run", "--config", str(NIGHTLY), "--entries-exact", "load,history", *sizes]
    assert workplace.assay(*night, ASSAY_RESULTS_DIR=results).code == 0
    assert workplace.assay(*night, ASSAY_RESULTS_DIR=results, BENCH_SLOWED="load:3").code == 0
    gate = workplace.assay("compare", "--results-dir", results, "--format", "json")
    regressed = [(row["entry"], row["metric"]) for row in json.loads(gate.out)["rows"] if row["verdict"] == "regressed"]
    assert regressed == [("load", "cpu_us_per_query")]
    assert gate.code == 3
