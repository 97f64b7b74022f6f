"""What the settings of a run change in our store."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.benchmarks.weights.settings import SuiteSettings
from assay.benchmarks.weights.stores import store_kind
from assay.weights.repository import Repository
from assay.weights.repository_config import RepositoryConfig


def config_of(tmp_path: Path, settings: SuiteSettings) -> RepositoryConfig:
    store = store_kind(f"assay-{settings.setting}", settings).open(tmp_path / "r")
    assert isinstance(store, Repository)
    return store.config


@pytest.mark.parametrize(
    ("environment", "key", "expected"),
    [
        ({"CORAL_STORAGE_COMPRESSION": "lzf"}, "setting", "fast"),
        ({"ASSAY_STORAGE_COMPRESSION": "small"}, "setting", "small"),
        ({"CORAL_USE_MMAP": "false"}, "memory_mapping", False),
        ({"CORAL_USE_MMAP": "true"}, "memory_mapping", True),
        ({"CORAL_ENABLE_STREAMING": "false"}, "streaming_operations", False),
        ({"ASSAY_BENCHMARK_MEMORY_LIMIT": "100"}, "memory_limit_mb", 100),
    ],
)
def test_a_variable_reaches_the_repository(
    tmp_path: Path, environment: dict[str, str], key: str, expected: object
) -> None:
    assert getattr(config_of(tmp_path, SuiteSettings.from_environment(environment)), key) == expected


def test_a_store_is_made_once_and_then_opened(tmp_path: Path) -> None:
    kind = store_kind("balanced")
    first = kind.open(tmp_path / "r").commit({})
    again = kind.open(tmp_path / "r")
    assert isinstance(again, Repository)
    assert again.log()[0].id == first
