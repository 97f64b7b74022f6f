from __future__ import annotations

from typing import Any

import cosmos_xenna.pipelines.v1 as xenna
import pytest
from tests.pipeline.toy_stages import Numbers, Sum

from assay.pipeline.executors.envelope import group_stages
from assay.pipeline.executors.xenna import XennaExecutor


class Nodes:
    """The part of Ray that says what a cluster has."""

    def __init__(self, *resources: dict[str, float]) -> None:
        self.resources = resources

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": each} for each in self.resources]


@pytest.mark.parametrize(("gpus", "hidden"), [({}, False), ({"GPU": 0.0}, False), ({"GPU": 1.0}, True)])
def test_gpus_are_hidden_from_stages_without_where_there_are_any(gpus: dict[str, float], hidden: bool) -> None:
    source = Numbers(splits=2)
    cluster = Nodes({"CPU": 8.0}, {"CPU": 8.0, **gpus})
    spec = XennaExecutor()._spec(cluster, xenna, None, group_stages(source, [Sum()], fuse=False), source.splits())
    assert spec.config.clear_cuda_visible_devices_on_cpu_actors is hidden
