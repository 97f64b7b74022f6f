from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from assay.benchmarks.weight_probes.corruption import CorruptionResult, flip_bytes
from assay.benchmarks.weight_scenarios.accuracy_cases import (
    AccuracyCase,
    bit_perfect,
    edge_cases,
    judge,
    judge_in_second_process,
    numerical_stability,
)
from assay.benchmarks.weight_scenarios.scenario_config import ScenarioBudget, ScenarioConfig
from assay.benchmarks.weights import accuracy
from assay.benchmarks.weights.program import main
from assay.benchmarks.weights.results import ScenarioResult, SuiteResult
from assay.benchmarks.weights.settings import SuiteSettings
from assay.weights.element_types import ELEMENT_TYPES

TINY = "suites: [accuracy]\niterations: 1\nmodels: [tiny]\ntimeout: 120\n"


def test_the_cases_cover_every_dtype_and_all_16_bit_patterns() -> None:
    cases = {case.name: case for case in bit_perfect(np.random.default_rng(0))}
    assert set(ELEMENT_TYPES) <= set(cases)
    for dtype in ("float16", "bfloat16", "int16", "uint16"):
        patterns = cases[f"all patterns of {dtype}"].versions[0]["w"]
        assert np.unique(patterns.view(np.uint16)).size == 65_536


def test_the_edge_cases_are_what_their_names_say() -> None:
    cases = {case.name: case for case in edge_cases(np.random.default_rng(0))}
    for dtype in ("float32", "float64", "float16", "bfloat16"):
        nan = cases[f"NaN payloads, {dtype}"].versions[1]["w"][:6]
        with np.errstate(invalid="ignore"):
            assert np.isnan(nan.astype(np.float64)).all()
        assert len({value.tobytes() for value in nan}) == 6
        assert np.isinf(cases[f"infinities, {dtype}"].versions[1]["w"][:2].astype(np.float64)).all()
        zero = cases[f"negative zero, {dtype}"].versions[1]["w"][0]
        assert zero == 0
        assert np.signbit(zero.astype(np.float64))
        smallest = cases[f"denormals, {dtype}"].versions[1]["w"][0].astype(np.float64)
        assert 0 < smallest < 2.0**-20
    restored = cases["value restored under its name"].versions
    assert restored[0]["w"].tobytes() == restored[2]["w"].tobytes() != restored[1]["w"].tobytes()
    assert len(list(numerical_stability(np.random.default_rng(0)))) == 16


def test_errors_are_measured_in_bits_numbers_and_ulps(tmp_path: Path) -> None:
    base = np.array([1.0, 1.0 + 2.0**-12, -0.0, np.nan], np.float32)
    verdict = judge("float16-cast", AccuracyCase("x", ({"w": base},)), tmp_path / "s", SuiteSettings())
    assert verdict.values == 4
    assert verdict.inexact_values == 1
    assert verdict.largest_error == 2.0**-12
    assert verdict.largest_ulp == 2048
    assert verdict.wrong == ("version 0, w: 1 of 4 values differ",)


def test_a_refusal_is_not_a_wrong_answer(tmp_path: Path) -> None:
    case = AccuracyCase("x", ({"w": np.array(["text"])}, {"w": np.arange(3)}))
    verdict = judge("zstd", case, tmp_path / "s", SuiteSettings())
    assert verdict.wrong == ()
    assert len(verdict.refused) == 1
    assert "dtype" in verdict.refused[0]
    assert not verdict.exact


def test_a_second_process_reads_what_was_written_here(tmp_path: Path) -> None:
    case = AccuracyCase("x", ({"w": np.arange(5)}, {"w": np.arange(6)}))
    verdict = judge("assay-balanced", case, tmp_path / "s", SuiteSettings())
    assert judge_in_second_process("assay-balanced", [(case, verdict)], SuiteSettings()) == []
    other = AccuracyCase("other", ({"w": np.arange(5)}, {"w": np.arange(7)}))
    problems = judge_in_second_process("assay-balanced", [(other, verdict)], SuiteSettings())
    assert problems == [("other", "second process, version 1: another value than was committed")]


def test_flipped_bytes_of_plain_files_are_read_in_silence(tmp_path: Path) -> None:
    found = flip_bytes("safetensors", tmp_path, 40, ScenarioBudget(60), SuiteSettings(), seed=0)
    assert found.flips == 40
    assert found.silent > 20
    assert found.detection_rate is not None
    assert found.detection_rate.estimate < 0.5


def test_a_spent_budget_still_gives_the_flips_of_a_rate(tmp_path: Path) -> None:
    found = flip_bytes("safetensors", tmp_path, 40, ScenarioBudget(0), SuiteSettings(), seed=0)
    assert 30 <= found.mattered <= 40
    assert found.detection_rate is not None
    assert found.detection_rate.estimate < 0.5


def test_no_rate_is_given_from_few_flips() -> None:
    """One flip that was found is not "100% found": with 40 it is 12.5%."""
    assert CorruptionResult(1, 1, 0, 0, 0).detection_rate is None
    assert CorruptionResult(40, 0, 0, 40, 0).detection_rate is None, "none mattered"
    for result, percent in (
        (CorruptionResult(40, 5, 0, 0, 35), (12.5, 4, 27)),
        (CorruptionResult(30, 28, 2, 0, 0), (100, 88, 100)),
        (CorruptionResult(30, 0, 0, 0, 30), (0, 0, 12)),
    ):
        rate = result.detection_rate
        assert rate is not None
        assert (100 * rate.estimate, round(100 * rate.low), round(100 * rate.high)) == percent


@pytest.mark.parametrize(
    ("flips", "found", "said"), [(1, 1, "too few flips to say"), (40, 5, "12.5% found (4 to 27%)")]
)
def test_the_table_and_the_metrics_say_no_more_than_the_flips_show(
    flips: int, found: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = CorruptionResult(flips, found, 0, 0, flips - found)
    monkeypatch.setattr(accuracy, "flip_bytes", lambda *words: result)
    suite = accuracy.AccuracySuite()
    readings = suite.run_scenario("data_integrity", ScenarioConfig(stores=("safetensors",)))
    assert ("safetensors.corruption_detected" in readings) == (flips >= 30)
    assert ("safetensors.corruption_detected_low" in readings) == (flips >= 30)
    assert readings["safetensors.flips"].value == flips
    [table] = suite.tables(SuiteResult("accuracy", (ScenarioResult("data_integrity", readings),)))
    assert said in str(table)
    assert "100" not in str(table.rows)


def strict(tmp_path: Path, store: str, *more: str) -> tuple[int, dict[str, object]]:
    profile = tmp_path / "tiny.yaml"
    profile.write_text(TINY)
    code = main("accuracy", ["--profile", str(profile), "--store", store, "--output", str(tmp_path / "out"), *more])
    return code, json.loads((tmp_path / "out" / "metrics.json").read_text())


@pytest.mark.slow
def test_strict_fails_on_a_store_that_loses_bits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, metrics = strict(tmp_path, "float16-cast", "--strict")
    assert code == 1
    assert metrics["is_success"] is False
    said = capsys.readouterr()
    assert "FAILED accuracy: float16-cast, Bit-Perfect:" in said.err
    assert "returned WRONG weights, silently, for: float64; float32" in said.out


@pytest.mark.slow
def test_without_strict_it_is_only_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, metrics = strict(tmp_path, "float16-cast")
    assert code == 0
    assert metrics["accuracy.edge_cases.float16-cast.wrong_cases"] > 0  # type: ignore[operator]
    assert "returned WRONG weights" in capsys.readouterr().out


@pytest.mark.slow
def test_our_store_loses_none(tmp_path: Path) -> None:
    _, metrics = strict(tmp_path, "balanced")
    for scenario in accuracy.CASES:
        assert metrics[f"accuracy.{scenario}.assay-balanced.reconstruction_accuracy"] == 100
        assert metrics[f"accuracy.{scenario}.assay-balanced.wrong_cases"] == 0
