"""The samples of the weight suites' document. Bundled suites take minutes: they are planned here and measured in
tests/benchmarks/weights; a suite of one's own is run."""

from __future__ import annotations

import json
import pstats
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from tests.seeds.conftest import PlannedRuns
from workplace import Workplace

from assay.benchmarks.weights import BenchmarkProfile
from assay.cli.main import main
from assay.compat.user_code import with_stand_ins
from assay.weights import Repository

ALL = ["compression", "performance", "clustering", "scalability", "memory", "accuracy"]
COMMANDS = {
    "": ("standard", ALL),
    "--profile quick": ("quick", ALL),
    "--profile quick --verbose": ("quick", ALL),
    "--profile full --output kept": ("full", ALL),
    "--profile comprehensive": ("comprehensive", ALL),
    "--output my_results --verbose": ("standard", ALL),
    "--profile quick --no-visualize": ("quick", ALL),
    "--legacy": ("standard", ALL),
}
VARIABLES = {
    "CORAL_BENCHMARK_WORKERS": "4", "CORAL_BENCHMARK_MEMORY_LIMIT": "8192", "CORAL_BENCHMARK_LOG_LEVEL": "DEBUG",
    "CORAL_BENCHMARK_IO_INTENSIVE": "true", "CORAL_STORAGE_COMPRESSION": "lzf", "CORAL_ENABLE_SIMD": "true",
    "CORAL_USE_MMAP": "true", "CORAL_ENABLE_STREAMING": "true", "CORAL_DEBUG": "1",
}  # fmt: skip
CONFIGS = {
    "space": {
        "similarity_threshold": 0.995, "delta_encoding": "COMPRESSED", "clustering_strategy": "adaptive",
        "enable_gc": True,
    },
    "speed": {
        "similarity_threshold": 0.98, "delta_encoding": "FLOAT32_RAW", "clustering_strategy": "kmeans",
        "batch_size": 1000,
    },
    "memory": {
        "lazy_loading": True, "memory_limit_mb": 2048, "cleanup_frequency": "aggressive",
        "streaming_operations": True,
    },
}  # fmt: skip
OWN = """\
from benchmarks.base import BenchmarkSuite


class Own(BenchmarkSuite):
    def __init__(self):
        super().__init__("own")

    def run_scenario(self, name: str, config: dict) -> dict:
        return {"length": float(len(name))}

    def get_scenarios(self) -> list:
        return ["one", "three"]

"""
COMPARED = """\
from benchmarks.analysis import BenchmarkAnalyzer
from benchmarks.main import BenchmarkOrchestrator

analyzer = BenchmarkAnalyzer()
comparison = analyzer.compare_results("baseline", "feature")
print("regressed:", comparison["regression_detected"])
results = analyzer.load_results("feature")
print("insights:", analyzer.extract_insights(results))
print("recommendations:", analyzer.generate_recommendations(results))
print("this machine:", BenchmarkOrchestrator().validate_system_requirements())
"""
MONITORED = """\
from benchmarks.analysis import BenchmarkAnalyzer
from benchmarks.monitoring import MetricsCollector

collector = MetricsCollector(backend="prometheus", endpoint="http://127.0.0.1:9")
print("sent:", collector.send_metrics(BenchmarkAnalyzer().load_results("feature")))
"""
WORKFLOW = """\
name: benchmarks
on: [push, pull_request]
jobs:
  measure:
    runs-on: ubuntu-latest
    steps:
    - uses: actions/checkout@v4
    - name: Measure
      run: assay weights bench --profile quick --no-visualize
    - uses: actions/upload-artifact@v4
      with:
        name: results
        path: benchmark_results_*/
"""


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_is_understood(planned: PlannedRuns, tmp_path: Path, words: str) -> None:
    assert main(["weights", "bench", *words.split()]) == 0
    [(_, profile)] = planned
    assert (profile.name, profile.suites) == COMMANDS[words]
    [output] = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert output.name in ("kept", "my_results") or output.name.startswith("benchmark_results_2")
    assert (output / "report.html").exists() is ("--no-visualize" not in words)


def test_every_variable_is_read(planned: PlannedRuns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**VARIABLES, "CORAL_BENCHMARK_TEMP_DIR": str(tmp_path / "tmp")}.items():
        monkeypatch.setenv(name, value)
    assert main(["weights", "bench", "--profile", "quick"]) == 0
    [(running, _)] = planned
    settings = running.settings
    assert (settings.workers, settings.memory_limit_mb, settings.temp_dir) == (4, 8192, tmp_path / "tmp")
    assert (settings.log_level, settings.debug, settings.setting) == ("DEBUG", True, "fast")
    assert settings.io_intensive
    assert settings.enable_simd
    assert settings.use_mmap
    assert settings.enable_streaming
    assert "io_intensive" in running.suites["performance"].get_scenarios()


def test_the_workflow_for_ci_runs_what_is_understood(planned: PlannedRuns, tmp_path: Path) -> None:
    steps = yaml.safe_load(WORKFLOW)["jobs"]["measure"]["steps"]
    [command] = [step["run"] for step in steps if "run" in step]
    assert main(command.split()[1:]) == 0
    [upload] = [step["with"]["path"] for step in steps if "with" in step]
    assert len(list(tmp_path.glob(upload))) == 1


def test_a_profile_of_ones_own_has_the_four_keys() -> None:
    config = {"suites": ["compression", "performance"], "iterations": 5, "models": ["small", "medium", "large"]}
    profile = BenchmarkProfile.CUSTOM.load({**config, "timeout": 1200})
    assert (profile.iterations, profile.models, profile.timeout) == (5, ["small", "medium", "large"], 1200)


@pytest.mark.parametrize("name", CONFIGS)
def test_every_configuration_of_a_repository_stores_and_gives_back(tmp_path: Path, name: str) -> None:
    repository = Repository.init(tmp_path / "store", CONFIGS[name])
    model = {"layer": np.arange(1000, dtype=np.float32), "bias": np.ones(10, np.float32)}
    repository.commit(model)
    for tensor, values in repository.checkout("main").items():
        assert np.array_equal(values, model[tensor])
    assert {key: getattr(repository.config, key) for key in CONFIGS[name]} == CONFIGS[name]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A suite of one's own, measured twice into folders with names, the second time under a profiler."""
    place = Workplace(tmp_path_factory.mktemp("weights"))
    for name, text in {"own": OWN, "compared": COMPARED, "monitored": MONITORED}.items():
        place.write(f"{name}.py", text)
    words = ["weights", "bench", "--profile", "quick", "--suite", "own:Own", "--verbose"]
    answer = place.assay(*words, "--output", "baseline")
    assert answer.code == 0, answer.out + answer.err
    assert "own/three" in answer.err
    said(place, "-m", "cProfile", "-o", "benchmark.prof", "-m", "assay", *words, "--output", "feature")
    return place


def said(place: Workplace, *words: str) -> str:
    """What a program prints that is started as Assay starts programs."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=place.folder,
        env=with_stand_ins(place.environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_command_is_profiled(measured: Workplace) -> None:
    metrics = json.loads((measured.folder / "feature/metrics.json").read_text())
    assert metrics["own.three.length"] == 5.0
    assert pstats.Stats(str(measured.folder / "benchmark.prof")).total_calls > 1000  # type: ignore[attr-defined]


@pytest.mark.slow
def test_two_results_are_compared_and_read(measured: Workplace) -> None:
    shown = said(measured, "compared.py").splitlines()
    assert [line.partition(":")[0] for line in shown[:4]] == [
        "regressed", "insights", "recommendations", "this machine",
    ]  # fmt: skip
    answer = measured.assay("compare", "baseline", "feature")
    assert "own.one.length" in answer.out


@pytest.mark.slow
def test_results_are_sent_to_a_monitoring_system_or_the_reason_is_given(measured: Workplace) -> None:
    assert "refused" in said(measured, "monitored.py")


@pytest.mark.parametrize("suite", ALL)
def test_a_suite_is_started_by_its_name_of_before(workplace: Workplace, suite: str) -> None:
    assert "--strict" in said(workplace, "-m", f"benchmarks.{suite}", "--verbose", "--strict", "--help")
