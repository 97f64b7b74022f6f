from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from assay.benchmarks.weight_probes.machine import Machine
from assay.benchmarks.weights import BenchmarkOrchestrator, BenchmarkProfile, BenchmarkSuite, orchestrator, profile
from assay.benchmarks.weights.profile import Profile
from assay.benchmarks.weights.results import ResultsFolder
from assay.benchmarks.weights.settings import SuiteSettings
from assay.errors import UsageError
from assay.record import Metric


class CustomBenchmark(BenchmarkSuite):
    """A suite as people write it: numbers by name, config read as a mapping."""

    def __init__(self) -> None:
        super().__init__("custom")

    def run_scenario(self, name: str, config: Any) -> Mapping[str, Any]:
        if name == "breaks":
            raise ZeroDivisionError("of my own")
        return {"custom_metric": 42.0, "iterations": config["iterations"], "unit": Metric("unit", 3, "s", "lower")}

    def get_scenarios(self) -> list[str]:
        return ["scenario1", "scenario2"]


class Breaking(CustomBenchmark):
    def get_scenarios(self) -> list[str]:
        return ["breaks", "scenario1"]


@pytest.fixture(autouse=True)
def _known_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orchestrator, "probe_machine", lambda store, scratch: Machine(cores=2))


def custom(**more: Any) -> Profile:
    return BenchmarkProfile.CUSTOM.load(
        {"suites": ["custom"], "iterations": 4, "models": ["tiny"], "timeout": 60, **more}
    )


def test_a_suite_of_ones_own_is_handed_over_and_run() -> None:
    running = BenchmarkOrchestrator(SuiteSettings())
    running.suites["custom"] = CustomBenchmark()
    result = running.run_single_suite("custom")
    assert result.success
    assert [scenario.name for scenario in result.scenarios] == ["scenario1", "scenario2"]
    assert result["scenario1"].readings["custom_metric"].value == 42.0
    named = {metric.name: metric for metric in result.metrics()}
    assert named["custom.scenario2.unit"].unit == "s"


def test_run_all_with_a_custom_config() -> None:
    running = BenchmarkOrchestrator(SuiteSettings())
    running.suites["custom"] = CustomBenchmark()
    config = {"suites": ["custom"], "iterations": 5, "models": ["small"], "timeout": 60}
    results = running.run_all(profile=BenchmarkProfile.CUSTOM, custom_config=config)
    assert results["custom"]["scenario1"].readings["iterations"].value == 5


def test_a_scenario_that_raises_fails_and_the_next_one_runs() -> None:
    running = BenchmarkOrchestrator(SuiteSettings())
    running.suites["custom"] = Breaking()
    result = running.run_all(custom())["custom"]
    assert not result.success
    assert result["breaks"].error == "ZeroDivisionError: of my own"
    assert result["scenario1"].error is None


def test_what_has_not_begun_by_the_time_limit_is_skipped_and_said() -> None:
    running = BenchmarkOrchestrator(SuiteSettings())
    running.suites["custom"] = CustomBenchmark()
    results = running.run_all(custom(timeout=1e-9))
    assert not results.success
    assert results["custom"]["scenario1"].skipped == "not begun within the time limit of 1e-09 s"


def test_an_unknown_suite_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'compression'"):
        BenchmarkOrchestrator(SuiteSettings()).run_single_suite("compresion")


def test_requirements_of_the_system_are_checked() -> None:
    found = BenchmarkOrchestrator(SuiteSettings()).validate_system_requirements()
    assert found.met
    assert {requirement.name for requirement in found.requirements} == {
        "Python",
        "memory",
        "disk",
        "cores",
        "libraries",
    }
    assert "at least" in str(found)


def entry(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, profile.GROUP)


def test_an_installed_package_brings_its_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile, "entry_points", lambda group: [entry("mine", f"{__name__}:CustomBenchmark")])
    assert isinstance(profile.load_suites()["mine"], CustomBenchmark)


@pytest.mark.parametrize("value", ["no_such_module_at_all:Suite", "json:JSONDecoder"])
def test_one_that_does_not_load_warns_and_the_others_stay(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setattr(profile, "entry_points", lambda group: [entry("mine", value)])
    with pytest.warns(UserWarning, match="weight suite 'mine'"):
        suites = profile.load_suites()
    assert list(suites) == list(profile.BUNDLED)


def test_results_follow_the_contract(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ResultsFolder.at(str(tmp_path / "out"), str(tmp_path / "contract"))
    running = BenchmarkOrchestrator(SuiteSettings(), on_suite=folder.add_suite)
    running.suites["custom"] = Breaking()
    results = running.run_all(custom())
    folder.write(results, custom(), running)
    metrics = json.loads((tmp_path / "contract" / "metrics.json").read_text())
    assert metrics["is_success"] is False
    assert metrics["custom.scenario1.custom_metric"] == 42.0
    assert metrics["custom.scenario1.unit"] == 3
    details = json.loads((tmp_path / "contract" / "metrics_detail.json").read_text())
    assert details["custom.scenario1.unit"] == {"unit": "s", "better": "lower"}
    assert json.loads((tmp_path / "contract" / "params.json").read_text())["profile"]["iterations"] == 4
    tasks = [json.loads(line) for line in (tmp_path / "contract" / "tasks.jsonl").read_text().splitlines()]
    assert {task["stage"] for task in tasks} == {"custom.breaks", "custom.scenario1"}
    assert "custom_metric" in capsys.readouterr().out
    assert "custom_metric" in (tmp_path / "out" / "tables.txt").read_text()


def test_a_run_cut_short_says_so(tmp_path: Path) -> None:
    ResultsFolder.at(str(tmp_path), None, profile=custom()).write_unfinished()
    assert json.loads((tmp_path / "metrics.json").read_text()) == {"is_success": False}
