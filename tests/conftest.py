from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from workplace import Workplace

if TYPE_CHECKING:
    from grouped_tests import GroupedTests


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> GroupedTests | None:
    """For `-n` as it is; who asks for another distribution gets it."""
    if config.getvalue("dist") != "load":
        return None
    from grouped_tests import GroupedTests

    return GroupedTests(config, log)
