from __future__ import annotations

from typing import Any

import pytest
from tests.pipeline.ray.namespace import run_in_namespace
from tests.pipeline.ray.scenarios import RAY

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def three_nodes() -> dict[str, Any]:
    return run_in_namespace("three_nodes")


@pytest.mark.parametrize("executor", RAY)
def test_a_node_killed_in_mid_run_changes_nothing(three_nodes: dict[str, Any], executor: str) -> None:
    run = three_nodes[executor]
    assert run["nodes before"] == 3
    assert 4 <= run["parts when killed"] < 24, "the node must go while there is work left"
    for what in ("files", "told", "timed"):
        assert run[what] == three_nodes["local"][what]
