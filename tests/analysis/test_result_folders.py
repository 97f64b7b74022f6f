"""`assay compare` takes the folder of any program: those of `colocate` and `weights bench` as they write them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.colocation.read_colocation import read_colocation
from assay.cli.arguments import keep_environment
from assay.cli.main import main
from assay.errors import DataError

TWO = """\
name: two
pipelines:
  - name: api
    loadgen: {component: poisson, duration: 0.3, config: {rate: 100}}
    stages: [{id: 0, component: no_op}]
  - name: batch
    loadgen: {component: single_stream, duration: 0.3}
    stages: [{id: 0, component: busy_cpu, config: {iterations: 500}}]
"""


def _compared(capsys: pytest.CaptureFixture[str], *folders: Path) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["compare", *map(str, folders), "--format", "json"]) in (0, 1)
    return json.loads(capsys.readouterr().out)


def test_two_folders_of_colocate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "two.yml"
    config.write_text(TWO)
    for name in "ab":
        main(["colocate", str(config), "--results", str(tmp_path / name), "--events", "none", "--quiet"])
    compared = _compared(capsys, tmp_path / "a", tmp_path / "b")
    rows = {(row["entry"], row["metric"]): row for row in compared["rows"]}
    written = json.loads((tmp_path / "b" / "colocation.json").read_text())["runs"][0]["pipelines"][0]
    row = rows["api beside batch", "throughput"]
    assert (row["head"], row["unit"], row["better"]) == (written["throughput"], "1/s", "higher")
    assert rows["batch beside api", "latency_p99_us"]["better"] == "lower"
    assert rows["api beside batch", "together_throughput"]["head"] == written["window"]["throughput"]
    environment = json.loads((tmp_path / "a" / "env.json").read_text())
    environment["kernel"] = "5.0"
    (tmp_path / "a" / "env.json").write_text(json.dumps(environment))
    kernel = next(one for one in _compared(capsys, tmp_path / "a", tmp_path / "b")["environment"])
    assert (kernel["what"], kernel["base"]) == ("kernel", "5.0")


def _pipeline(name: str, throughput: float) -> dict[str, object]:
    return {
        "pipeline": name, "process_cpu_s": 1.0, "process_peak_rss_mb": 50.0, "ending": {"how": "finished"},
        "asked_rate": 100.0, "throughput": throughput, "goodput": throughput, "duration_s": 1.0,
        "sent": 9, "completed": 9, "failed": 0, "held_back": 0, "latency": {"p50_us": 5.0, "p99_us": 9.0},
    }  # fmt: skip


def test_a_matrix_and_its_slowdowns(tmp_path: Path) -> None:
    def run(label: str, number: int, *pipelines: dict[str, object]) -> dict[str, object]:
        members = [pipeline["pipeline"] for pipeline in pipelines]
        window = {"seconds": 1.0, "throughput": 7.0, "completed": 7, "p50_us": None, "p99_us": None}
        return {
            "label": label, "round": number, "members": members, "alone": len(members) == 1,
            "pipelines": [{**pipeline, "window": window} for pipeline in pipelines],
        }  # fmt: skip

    cell = {"pipeline": "a", "beside": ["b"], "what": "throughput", "stage": None, "estimate": 1.5}
    cells = [cell, {**cell, "what": "p99", "estimate": None}, {**cell, "what": "mean", "stage": 3, "estimate": 2.0}]
    runs = [
        run("solo-a", 1, _pipeline("a", 20.0)),
        *(run(f"round-{n}/a+b", n, _pipeline("a", 10.0), _pipeline("b", 5.0)) for n in (1, 2)),
    ]
    (tmp_path / "colocation.json").write_text(json.dumps({"version": 2, "runs": runs, "cells": cells, "rates": None}))
    records = read_colocation(tmp_path)
    assert [(r.name, r.repeat) for r in records] == [
        ("a alone", 1), ("a beside b", 1), ("b beside a", 1), ("a beside b", 2), ("b beside a", 2),
        ("slowdown of a beside b", 1),
    ]  # fmt: skip
    slowdowns = {name: metric.number for name, metric in records[-1].metrics.items() if name != "exec_time_s"}
    assert slowdowns == {"throughput": 1.5, "stage_3_mean": 2.0}
    assert "together_throughput" not in records[0].metrics
    assert records[1].metrics["together_throughput"].number == 7.0


def test_rates_have_an_entry_each_and_one_for_the_peak(tmp_path: Path) -> None:
    def run(rate: int) -> dict[str, object]:
        pipelines = [{**_pipeline(name, rate), "window": {}} for name in ("a", "b")]
        return {"label": f"rate-{rate}", "round": 1, "members": ["a", "b"], "alone": False, "pipelines": pipelines}

    trials = [{"rate": rate, "valid": True, "run": f"rate-{rate}"} for rate in (50, 100)]
    rates = {"pipeline": "a", "trials": trials, "peak": {"rate": 100, "bounded": False}}
    written = {"version": 2, "runs": [run(50), run(100)], "cells": [], "rates": rates}
    (tmp_path / "colocation.json").write_text(json.dumps(written))
    assert [record.name for record in read_colocation(tmp_path)] == ["a at rate 50", "a at rate 100", "a peak"]


def test_a_matrix_of_before_has_an_entry_for_each_way_a_pipeline_was_run(tmp_path: Path) -> None:
    rounds = [{"pipelines": [_pipeline("a", 10.0 + i), _pipeline("b", 5.0)]} for i in range(2)]
    written = {
        "pipelines": ["a", "b"], "solo": {"a": [{"pipelines": [_pipeline("a", 20.0)]}]},
        "together": [{"group": ["a", "b"], "rounds": rounds}], "slowdown": [],
    }  # fmt: skip
    (tmp_path / "colocation.json").write_text(json.dumps(written))
    records = read_colocation(tmp_path)
    assert [(r.name, r.repeat, r.metrics["throughput"].number) for r in records] == [
        ("a alone", 1, 20.0),
        ("a beside b", 1, 10.0),
        ("b beside a", 1, 5.0),
        ("a beside b", 2, 11.0),
        ("b beside a", 2, 5.0),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"version": 2}',
        '{"version": 2, "runs": [], "rates": null}',
        '{"pipelines": []}',
        '{"pipelines": [{"pipeline": "a"}]}',
    ],
)
def test_what_colocate_did_not_write_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "colocation.json").write_text(text)
    with pytest.raises(DataError, match=r"colocation\.json: "):
        read_colocation(tmp_path)


@pytest.mark.slow
def test_two_folders_of_weights_bench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = ["--output", str(tmp_path / "a"), "--no-visualize"]
    assert main(["weights", "bench", "--profile", "quick", "--suite", "accuracy", *output]) == 0
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    compared = _compared(capsys, tmp_path / "a", tmp_path / "b")
    metrics = {row["metric"] for row in compared["rows"]}
    assert "accuracy.bit_perfect.assay-balanced.exact_cases" in metrics
    assert next(row for row in compared["rows"] if row["metric"] == "exec_time_s")["base"] > 0
    assert (tmp_path / "a" / "env.json").is_file()
    assert [one for one in compared["environment"] if one["kind"] != "load"] == []


def test_the_kept_environment_names_every_package_and_never_fails_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep_environment(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["env.json"]
    packages = json.loads((tmp_path / "env.json").read_text())["packages"]
    assert {"numpy", "pytest"} <= set(packages)
    keep_environment(tmp_path / "env.json" / "no folder")
    assert "env.json could not be written: " in capsys.readouterr().err


def test_folders_of_a_sweep_and_of_a_search_for_the_peak(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "one.yml"
    config.write_text(TWO[: TWO.index("  - name: batch")])
    for name in "ab":
        main(["colocate", str(config), "--results", str(tmp_path / name), "--sweep", "api=50,100", "--quiet"])
    rows = {(row["entry"], row["metric"]): row for row in _compared(capsys, tmp_path / "a", tmp_path / "b")["rows"]}
    assert {entry for entry, _ in rows} == {"api at rate 50", "api at rate 100"}
    assert rows["api at rate 50", "throughput"]["better"] == "higher"
    for name, rate in (("c", 400.0), ("d", None), ("e", 400.0)):
        (tmp_path / name).mkdir()
        trials = [{"rate": 400.0, "valid": True, "pipelines": [_pipeline("api", 390.0)]}]
        written = {"pipeline": "api", "peak": {"rate": rate, "bounded": True}, "trials": trials}
        (tmp_path / name / "colocation.json").write_text(json.dumps(written))
    assert "api peak" in {row["entry"] for row in _compared(capsys, tmp_path / "c", tmp_path / "e")["rows"]}
    missed = _compared(capsys, tmp_path / "c", tmp_path / "d")
    assert missed["reason"] == "B failed: api peak: no rate tried meets the objectives"
