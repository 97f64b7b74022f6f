from __future__ import annotations

from pathlib import Path

import pytest

from assay.benchmarks.weights import BenchmarkProfile
from assay.benchmarks.weights.profile import BUNDLED, load_profile
from assay.errors import ConfigError, UsageError


def test_the_four_profiles_aim_at_one_five_ten_and_twenty_minutes() -> None:
    budgets = [load_profile(name).seconds for name in ("quick", "standard", "full", "comprehensive")]
    assert budgets == [60, 300, 600, 1200]


def test_every_profile_runs_every_bundled_suite_and_the_largest_a_billion_parameters() -> None:
    for kind in BenchmarkProfile:
        if kind is not BenchmarkProfile.CUSTOM:
            assert kind.load().suites == list(BUNDLED)
    assert "extra-large" in BenchmarkProfile.COMPREHENSIVE.load().models


def test_custom_takes_the_four_keys() -> None:
    config = {"suites": ["compression"], "iterations": 5, "models": ["small", "medium", "large"], "timeout": 1200}
    profile = BenchmarkProfile.CUSTOM.load(config)
    assert (profile.suites, profile.iterations, profile.timeout) == (["compression"], 5, 1200)
    assert profile.seconds == 1200


def test_custom_config_belongs_to_custom_only() -> None:
    with pytest.raises(UsageError, match="CUSTOM"):
        BenchmarkProfile.QUICK.load({"iterations": 1})
    with pytest.raises(UsageError, match="needs custom_config"):
        BenchmarkProfile.CUSTOM.load()


def test_every_problem_of_a_file_is_reported_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("suites: [compression]\niteration: 3\nmodels: [smal]\ntimeout: 0\nstores: [balansed]\n")
    with pytest.raises(ConfigError) as error:
        load_profile(str(file))
    problems = "\n".join(error.value.problems)
    assert f"{file}:2:1: iteration: unknown key 'iteration'; did you mean 'iterations'?" in problems
    assert f"{file}:3:10" in problems
    assert "unknown model size 'smal'" in problems
    assert f"{file}:4:10" in problems
    assert "unknown store 'balansed'" in problems


def test_a_file_is_named_after_itself(tmp_path: Path) -> None:
    file = tmp_path / "nightly.yaml"
    file.write_text("iterations: 2\n")
    assert load_profile(str(file)).name == "nightly"


def test_neither_a_name_nor_a_file() -> None:
    with pytest.raises(UsageError, match=r"known: quick, standard, full, comprehensive\); nor is there such a file"):
        load_profile("qick")
