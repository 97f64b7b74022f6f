"""`assay colocate` and the benchmark program, from the outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import assay
from assay.cli.main import main

SOURCE = Path(assay.__file__).parent.parent

TWO = """\
name: two
pipelines:
  - name: api
    loadgen: {component: poisson, duration: 0.5, config: {rate: 200}}
    objectives: [{percentile: 0.5, seconds: 0.5}]
    stages:
      - {id: 0, component: no_op, outputs: [1]}
      - {id: 1, component: stages.synthetic.Sleep, config: {seconds: 0.0005}}
  - name: batch
    loadgen: {component: single_stream, duration: 0.5}
    stages:
      - {id: 0, component: busy_cpu, config: {iterations: 5000}}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "two.yml"
    path.write_text(TWO)
    return path


def test_all_pipelines_together_by_default(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "out"
    assert main(["colocate", str(config), "--results", str(results), "--events", "csv", "--trace"]) == 0
    shown = capsys.readouterr()
    assert "VALID" in shown.out
    assert "asked 200/s" in shown.err
    assert {path.name for path in (results / "together" / "api").iterdir()} >= {
        "events.csv",
        "result.json",
        "stderr.log",
    }
    written = json.loads((results / "colocation.json").read_text())
    assert (written["version"], written["kind"]) == (2, "together")
    assert [p["name"] for p in written["pipelines"]] == ["api", "batch"]
    [run] = written["runs"]
    assert run["members"] == [p["pipeline"] for p in run["pipelines"]] == ["api", "batch"]
    assert "while all ran together" in shown.out
    assert "each pipeline's whole run" in shown.out
    assert json.loads((results / "together" / "trace.json").read_text())["traceEvents"]


@pytest.mark.slow
def test_the_matrix_has_a_cell_for_each_pair(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "out"
    words = ["colocate", str(config), "--results", str(results), "--matrix", "--events", "none", "--quiet"]
    assert main(words) == 0
    shown = capsys.readouterr()
    assert "slowdown of throughput" in shown.out
    assert shown.err == ""
    written = json.loads((results / "colocation.json").read_text())
    cells = [cell for cell in written["cells"] if cell["what"] == "throughput"]
    assert [(cell["pipeline"], cell["beside"]) for cell in cells] == [
        ("api", ["api"]),
        ("batch", ["batch"]),
        ("api", ["batch"]),
        ("batch", ["api"]),
    ]
    for cell in cells:
        assert cell["low"] <= cell["estimate"] <= cell["high"]
        assert cell["slower"] is (None if cell["low"] <= 1 <= cell["high"] else cell["low"] > 1)
    assert [run["label"] for run in written["runs"]] == [
        "solo-api",
        "solo-batch",
        "api+api",
        "batch+batch",
        "api+batch",
    ]
    assert sorted(path.name for path in results.iterdir() if path.is_dir()) == sorted(
        run["label"] for run in written["runs"]
    )
    assert sorted(path.name for path in (results / "api+api").iterdir()) == ["api", "api--copy"]
    assert "api beside its own copy (1 round" in shown.out
    assert "95% intervals of one round" in shown.out


def test_the_copy_is_the_pipeline_with_another_name_and_seed(config: Path) -> None:
    from assay.loadgen.colocation.colocation import members, neighbours, pairs
    from assay.loadgen.colocation.read_config import read_config

    config.write_text(TWO.replace("name: batch", "name: api (copy)"))
    read = read_config(config)
    assert pairs(read) == (("api", "api"), ("api (copy)", "api (copy)"), ("api", "api (copy)"))
    assert pairs(read, diagonal=False) == (("api", "api (copy)"),)
    first, copy = members(read, ("api", "api"))
    assert (first.name, copy.name) == ("api", "api (copy 2)"), "a pipeline of the user's has the first name"
    assert (first.loadgen.seed, copy.loadgen.seed) == (0, 1)
    assert copy.stages == first.stages
    assert neighbours(("api", "api"), "api") == ("api",)


@pytest.mark.slow
def test_a_sweep_runs_each_rate(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["colocate", str(config), "--results", str(tmp_path / "out"), "--sweep", "api=100,50", "--quiet"]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["50", "100"]
    written = json.loads((tmp_path / "out" / "colocation.json").read_text())
    assert [(trial["rate"], trial["run"]) for trial in written["rates"]["trials"]] == [
        (50.0, "rate-50"),
        (100.0, "rate-100"),
    ]
    assert [run["label"] for run in written["runs"]] == ["rate-50", "rate-100"]


@pytest.mark.slow
def test_a_rate_that_cannot_be_sent_is_not_the_peak(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every query meets an objective of a minute; 3 ms each, one after the other, are never 1,600 a second."""
    text = TWO.replace("seconds: 0.0005", "seconds: 0.003").replace("seconds: 0.5}", "seconds: 60}")
    config.write_text(text[: text.index("  - name: batch")])
    words = ["colocate", str(config), "--results", str(tmp_path / "out"), "--find-peak", "api=200", "--quiet"]
    assert main(words) == 0
    written = json.loads((tmp_path / "out" / "colocation.json").read_text())
    assert written["rates"]["peak"]["bounded"] is True
    assert written["rates"]["peak"]["rate"] < 400
    assert "the rate was not sent" in capsys.readouterr().out
    failed = [trial for trial in written["rates"]["trials"] if not trial["valid"]]
    assert all(trial["sent"] < 0.95 * trial["offered"] for trial in failed)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--group", "api+nobody"], "unknown pipeline 'nobody' (known: api, batch)"),
        (["--group", "api"], "two or more"),
        (["--sweep", "batch=5"], "has no rate"),
        (["--sweep", "api=fast"], "are not rates"),
        (["--sweep", "api"], "needs rates"),
        (["--find-peak", "nobody"], "unknown pipeline"),
        (["--matrix", "--repeat", "0"], "at least 1"),
    ],
)
def test_what_cannot_be_is_one_message(
    config: Path, tmp_path: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["colocate", str(config), "--results", str(tmp_path / "out"), *words]) == 2
    assert message in capsys.readouterr().err


def test_check_reads_and_runs_nothing(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["colocate", str(config), "--check"]) == 0
    assert "2 pipelines, nothing wrong" in capsys.readouterr().out


def test_a_bad_file_is_exit_two_with_its_line(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(TWO.replace("rate: 200", "rats: 200"))
    assert main(["colocate", str(config)]) == 2
    assert "two.yml:4" in capsys.readouterr().err


def test_a_failing_pipeline_is_exit_one(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(TWO.replace("component: no_op", "component: stages.synthetic.Raise, config: {at: 3}"))
    assert main(["colocate", str(config), "--results", str(tmp_path / "out"), "--quiet"]) == 1
    assert "query 3, stage 0 (Raise): RuntimeError" in capsys.readouterr().out


def program(config: Path, tmp_path: Path, *words: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    results = tmp_path / "results"
    script = str(SOURCE / "assay/benchmarks/colocation_benchmark.py")
    done = subprocess.run(
        [sys.executable, script, "--config", str(config), "--benchmark-results-path", str(results), *words],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done, results


@pytest.mark.slow
def test_the_benchmark_program_writes_the_contracts_files(config: Path, tmp_path: Path) -> None:
    done, results = program(config, tmp_path)
    assert done.returncode == 0, done.stderr
    metrics = json.loads((results / "metrics.json").read_text())
    assert metrics["is_success"] is True
    assert metrics["api.throughput"] > 0
    details = json.loads((results / "metrics_detail.json").read_text())
    assert details["api.throughput"] == {"unit": "1/s", "better": "higher"}
    assert min(details["api.latency_s"]["samples"]) <= metrics["api.latency_s"]
    assert metrics["api.completed"] == metrics["api.sent"] > 50
    assert json.loads((results / "params.json").read_text())["name"] == "two"
    assert "in flight" in done.stdout
    tasks = [json.loads(line) for line in (results / "tasks.jsonl").read_text().splitlines()]
    calls = Counter(task["stage"] for task in tasks)
    assert set(calls) == {"api/no_op", "api/Sleep", "batch/busy_cpu"}
    [run] = json.loads((results / "colocation.json").read_text())["runs"]
    api = run["pipelines"][0]
    assert [calls["api/no_op"], calls["api/Sleep"]] == [stage["window"]["calls"] for stage in api["stages"]]
    assert calls["api/Sleep"] > 50, "a task a call, not one for all"
    assert metrics["overlap_s"] == run["overlap"]["seconds"]
    assert 0.5 < metrics["api.overlap_share"] <= 1


@pytest.mark.slow
def test_the_benchmark_program_tells_alone_from_beside(config: Path, tmp_path: Path) -> None:
    done, results = program(config, tmp_path, "--matrix", "--pipelines", "api")
    assert done.returncode == 0, done.stderr
    metrics = json.loads((results / "metrics.json").read_text())
    key = "slowdown.api.beside.api.throughput"
    assert metrics[f"{key}.low"] <= metrics[key] <= metrics[f"{key}.high"]
    assert metrics["api.beside.api.throughput"] > 0
    stages = {json.loads(line)["stage"] for line in (results / "tasks.jsonl").read_text().splitlines()}
    assert stages == {f"{label}/{stage}" for label in ("api alone", "api beside api") for stage in ("no_op", "Sleep")}


@pytest.mark.slow
def test_the_benchmark_program_keeps_the_curve_of_a_sweep(config: Path, tmp_path: Path) -> None:
    done, results = program(config, tmp_path, "--sweep", "api=50,100,150", "--pipelines", "api")
    assert done.returncode == 0, done.stderr
    rows = json.loads((results / "metrics.json").read_text())["api.rates"]
    assert [row["rate"] for row in rows] == [50.0, 100.0, 150.0]
    assert all(row["p50_s"] <= row["p99_s"] and row["valid"] for row in rows)
    written = json.loads((results / "colocation.json").read_text())
    assert written["kind"] == "rates"


def test_many_calls_become_few_tasks_that_stand_for_all() -> None:
    import numpy as np

    from assay.benchmarks.colocation_metrics import MOST_SAMPLES, _tasks
    from assay.loadgen.latency import Latency
    from assay.loadgen.load_result import StageTimes

    times = np.arange(1, 5 * MOST_SAMPLES + 8, dtype=np.int64)
    nothing = Latency.of([])
    tasks = list(_tasks("api", {0: StageTimes("model", nothing, 1.0)}, {0: times}))
    assert len(tasks) <= MOST_SAMPLES
    assert sum(task.metrics["stands_for"] for task in tasks) == pytest.approx(len(times))
    total = sum(task.metrics["stands_for"] * task.metrics["process_time"] for task in tasks)
    assert total == pytest.approx(times.sum() / 1e9, rel=0.01)
    [whole] = _tasks("api", {0: StageTimes("model", nothing, 1.0)}, {0: times[:1]})
    assert dict(whole.metrics) == {"process_time": 1e-9}


@pytest.mark.slow
def test_the_benchmark_program_fails_with_its_reason(config: Path, tmp_path: Path) -> None:
    config.write_text(TWO.replace("component: no_op", "component: stages.synthetic.Crash, config: {at: 3}"))
    done, results = program(config, tmp_path)
    assert done.returncode == 1
    assert "killed by signal 9 in query 3, stage 0 (Crash)" in done.stderr
    metrics = json.loads((results / "metrics.json").read_text())
    assert metrics["is_success"] is False
    assert metrics["api.completed"] == 3


def test_the_benchmark_program_without_a_config_says_so(tmp_path: Path) -> None:
    done, results = program(Path(), tmp_path, "--config", "")
    assert done.returncode == 2
    assert "--config FILE is missing" in done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads((results / "metrics.json").read_text()) == {"is_success": False}
