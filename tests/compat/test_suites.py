"""Suites of users' own and `--legacy`, as the weight suites that Assay grew from have them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from workplace import Workplace

from assay.benchmarks.weights.orchestrator import run_legacy
from assay.cli.main import main

SUITE = """\
from benchmarks.base import BenchmarkSuite


class CustomBenchmark(BenchmarkSuite):
    def __init__(self):
        super().__init__("custom")

    def run_scenario(self, name: str, config: dict) -> dict:
        from runner.sinks.sink import Sink

        return {"custom_metric": 42.0, "sink": Sink.__module__, "models": len(config.get("models"))}

    def get_scenarios(self) -> list:
        return ["scenario1", "scenario2"]
"""


@pytest.mark.slow
def test_a_suite_is_run_by_its_path_and_then_the_benchmark_from_before(workplace: Workplace) -> None:
    workplace.write("my_suite.py", SUITE)
    workplace.write("benchmark.py", "from nemo_curator.tasks import Task\nprint('legacy', Task.__module__)\nexit(3)")
    words = ["--profile", "quick", "--suite", "my_suite:CustomBenchmark", "--output", "out", "--no-visualize"]
    answer = workplace.assay("weights", "bench", *words, "--legacy")
    metrics = json.loads((workplace.folder / "out/metrics.json").read_text())
    assert metrics["custom.scenario2.custom_metric"] == 42.0
    assert metrics["custom.scenario2.sink"] == "assay.sinks.sink"
    assert metrics["is_success"] is True
    assert "benchmarks.base: not found, so Assay's own stood in for it" in answer.err
    assert "legacy assay.record.task\n" in answer.out
    assert "--legacy: benchmark.py exited with code 3" in answer.out
    assert answer.code == 1


def test_without_a_benchmark_from_before_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_legacy(tmp_path)
    assert capsys.readouterr().out == (
        f"--legacy: there is no benchmark.py in {tmp_path}: the suites were all that ran\n"
    )


def test_a_suite_that_is_not_there_or_not_whole_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "half_suite.py").write_text(SUITE.partition("    def get_scenarios")[0])
    for path, message in [
        ("half_suite:CustomBenchmark", "suite half_suite:CustomBenchmark cannot be made: Can't instantiate abstract"),
        ("half_suite:Nobody", "unknown suite 'half_suite:Nobody'"),
    ]:
        assert main(["weights", "bench", "--profile", "quick", "--suite", path]) == 2
        said = capsys.readouterr().err
        assert f"assay: {message}" in said
