"""`assay colocate` and the benchmark program, from the outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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
    assert [p["pipeline"] for p in written["pipelines"]] == ["api", "batch"]
    assert json.loads((results / "together" / "trace.json").read_text())["traceEvents"]


@pytest.mark.slow
def test_the_matrix_has_a_cell_for_each_pair(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "out"
    words = ["colocate", str(config), "--results", str(results), "--matrix", "--events", "none", "--quiet"]
    assert main(words) == 0
    shown = capsys.readouterr()
    assert "slowdown of throughput" in shown.out
    assert shown.err == ""
    cells = json.loads((results / "colocation.json").read_text())["slowdown"]
    assert [(cell["pipeline"], cell["group"]) for cell in cells] == [
        ("api", ["api", "batch"]),
        ("batch", ["api", "batch"]),
    ]
    assert all(
        cell["throughput"]["low"] <= cell["throughput"]["estimate"] <= cell["throughput"]["high"] for cell in cells
    )
    assert sorted(path.name for path in results.iterdir() if path.is_dir()) == ["api+batch", "solo-api", "solo-batch"]


@pytest.mark.slow
def test_a_sweep_runs_each_rate(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["colocate", str(config), "--results", str(tmp_path / "out"), "--sweep", "api=100,50", "--quiet"]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["50", "100"]


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
    assert {json.loads(line)["stage"] for line in (results / "tasks.jsonl").read_text().splitlines()} == {
        "api/no_op",
        "api/Sleep",
        "batch/busy_cpu",
    }


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
