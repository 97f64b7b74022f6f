from __future__ import annotations

from typing import Any

import pytest
from tests.pipeline.ray.scenarios import RAY

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def alm(one_node: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = one_node["alm"]
    return answer


def test_local_does_all_of_it(alm: dict[str, Any]) -> None:
    assert alm["local"]["exit code"] == 0
    assert alm["local"]["num_input_entries"] == alm["local"]["num_output_entries"] == 10_000
    assert alm["local"]["total_filtered_windows"] > 1_000


@pytest.mark.parametrize("executor", RAY)
def test_ten_thousand_odd_recordings_give_the_same_bytes(alm: dict[str, Any], executor: str) -> None:
    assert alm[executor] == alm["local"]
