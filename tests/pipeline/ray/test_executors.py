from __future__ import annotations

from typing import Any

import pytest
from tests.pipeline.ray.scenarios import RAY

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.mark.parametrize("executor", RAY)
@pytest.mark.parametrize("what", ["batches", "no splits", "stateful"])
def test_same_results_as_local_in_the_same_order(one_node: dict[str, Any], executor: str, what: str) -> None:
    assert one_node["local"][what]
    assert one_node[executor][what] == one_node["local"][what]


@pytest.mark.parametrize("executor", RAY)
def test_same_part_files_as_local_byte_for_byte(one_node: dict[str, Any], executor: str) -> None:
    assert len(one_node["local"]["parts"]["files"]) == 6
    assert one_node[executor]["parts"] == one_node["local"]["parts"]


@pytest.mark.parametrize("executor", RAY)
def test_a_failure_is_the_message_local_gives(one_node: dict[str, Any], executor: str) -> None:
    assert one_node["local"]["bad data"] == "DataError: numbers.txt:3: n: is odd"
    assert one_node[executor]["bad data"] == one_node["local"]["bad data"]


@pytest.mark.parametrize("executor", ["ray_actors", "ray_data"])
def test_a_bug_names_its_stage_and_data(one_node: dict[str, Any], executor: str) -> None:
    assert "stage fail_on failed on numbers-2.txt" in one_node["local bug"]
    assert one_node[f"{executor} bug"] == one_node["local bug"]


@pytest.mark.parametrize("executor", RAY)
def test_a_worker_that_dies_is_replaced_and_nothing_is_lost_or_twice(one_node: dict[str, Any], executor: str) -> None:
    sums, calls = one_node[f"{executor} death"]
    assert sums == [sum(range(split * 10, split * 10 + 10)) for split in range(6)]
    assert len(calls) == 18


@pytest.mark.parametrize("executor", ["ray_actors", "ray_data"])
def test_a_worker_that_dies_with_its_state_is_not_replaced_silently(one_node: dict[str, Any], executor: str) -> None:
    lost = "PipelineError: the worker of a stage that keeps state died, and its state with it"
    assert one_node[f"{executor} state lost"].startswith(lost)


def test_a_split_that_kills_its_workers_is_named(one_node: dict[str, Any]) -> None:
    assert one_node["poison"].startswith("PipelineError: 3 workers in turn died on numbers-2.txt")


def test_without_an_address_a_cluster_is_started_and_ended(one_node: dict[str, Any]) -> None:
    assert one_node["own cluster"][0] == [45, 145, 245]
    assert one_node["left behind"] is False


@pytest.mark.parametrize("executor", ["ray_actors", "ray_data"])
def test_the_driver_does_not_grow_with_the_data(one_node: dict[str, Any], executor: str) -> None:
    driver = one_node[f"{executor} driver"]
    assert driver["much"] > 200 * driver["little"]
    assert driver["grown"] < 8_000, "kilobytes, for ten megabytes written"
