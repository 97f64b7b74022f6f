from __future__ import annotations

import logging
from pathlib import Path

import pytest

from assay.benchmarks.weights.settings import SuiteSettings
from assay.errors import UsageError


def test_every_variable_under_both_names() -> None:
    values = {
        "BENCHMARK_WORKERS": "3",
        "BENCHMARK_MEMORY_LIMIT": "2048",
        "BENCHMARK_LOG_LEVEL": "debug",
        "BENCHMARK_IO_INTENSIVE": "true",
        "STORAGE_COMPRESSION": "lzf",
        "ENABLE_SIMD": "false",
        "USE_MMAP": "0",
        "ENABLE_STREAMING": "yes",
        "DEBUG": "1",
    }
    expected = SuiteSettings(
        workers=3,
        memory_limit_mb=2048,
        log_level="DEBUG",
        io_intensive=True,
        storage_compression="lzf",
        enable_simd=False,
        use_mmap=False,
        enable_streaming=True,
        debug=True,
    )
    for prefix in ("ASSAY_", "CORAL_"):
        assert SuiteSettings.from_environment({prefix + name: value for name, value in values.items()}) == expected


def test_our_name_wins_over_the_older_one() -> None:
    both = {"ASSAY_BENCHMARK_WORKERS": "2", "CORAL_BENCHMARK_WORKERS": "7"}
    assert SuiteSettings.from_environment(both).workers == 2


def test_the_temp_dir_is_made(tmp_path: Path) -> None:
    wanted = tmp_path / "a" / "b"
    assert SuiteSettings.from_environment({"CORAL_BENCHMARK_TEMP_DIR": str(wanted)}).temp_dir == wanted
    assert wanted.is_dir()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("ASSAY_BENCHMARK_WORKERS", "many", "whole number"),
        ("CORAL_BENCHMARK_MEMORY_LIMIT", "0", "CORAL_BENCHMARK_MEMORY_LIMIT=0"),
        ("ASSAY_DEBUG", "maybe", "true or false"),
        ("ASSAY_STORAGE_COMPRESSION", "zip", "small, balanced, fast"),
        ("ASSAY_BENCHMARK_LOG_LEVEL", "loud", "DEBUG, INFO"),
        ("ASSAY_BENCHMARK_TEMP_DIR", "/proc/nowhere", "cannot make"),
    ],
)
def test_what_is_wrong_names_the_variable(name: str, value: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        SuiteSettings.from_environment({name: value})
    assert name in str(error.value)


def test_debug_sets_the_log_level_unless_it_is_set() -> None:
    assert SuiteSettings.from_environment({"ASSAY_DEBUG": "1"}).log_level == "DEBUG"
    assert (
        SuiteSettings.from_environment({"ASSAY_DEBUG": "1", "ASSAY_BENCHMARK_LOG_LEVEL": "ERROR"}).log_level == "ERROR"
    )
    assert logging.getLevelName(SuiteSettings.from_environment({}).log_level) == logging.WARNING


def test_a_child_process_sees_the_same_settings() -> None:
    settings = SuiteSettings.from_environment(
        {"CORAL_STORAGE_COMPRESSION": "gzip", "CORAL_USE_MMAP": "off", "CORAL_BENCHMARK_WORKERS": "4"}
    )
    assert SuiteSettings.from_environment(settings.export()) == settings
    assert settings.setting == "small"


def test_without_simd_numba_is_told_before_it_is_imported() -> None:
    assert SuiteSettings().without_simd() == {}
    assert SuiteSettings(enable_simd=False).without_simd()["NUMBA_CPU_NAME"] == "generic"
