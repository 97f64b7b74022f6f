"""Branch coverage of a process of pytest, an xdist worker included: registered by tests/conftest.py."""

from __future__ import annotations

from pathlib import Path

import coverage
import pytest

SETTINGS = Path(__file__).parents[2] / "pyproject.toml"


class BranchCoverage:
    def __init__(self) -> None:
        self._measured = coverage.Coverage(config_file=str(SETTINGS), data_suffix=True)
        self._measured.start()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        self._measured.stop()
        self._measured.save()
