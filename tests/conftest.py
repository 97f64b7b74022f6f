from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from workplace import Workplace

if TYPE_CHECKING:
    from grouped_tests import GroupedTests


# A job in the background of a shell, or under nohup, starts with these ignored, and hands that on to what tests start.
for _ignored, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_ignored) is signal.SIG_IGN:
        signal.signal(_ignored, _usual)


@pytest.fixture(scope="session", autouse=True)
def _state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Where runs wrote is remembered for each user; not for whoever runs the tests."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes half a minute on a quiet machine may take many on a busy one."""
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> GroupedTests | None:
    """Our own distribution, for plain `-n`; who asks for another one gets that."""
    if config.getvalue("dist") != "load":
        return None
    from grouped_tests import GroupedTests

    return GroupedTests(config, log)
