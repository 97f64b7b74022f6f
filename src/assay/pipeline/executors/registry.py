from __future__ import annotations

from typing import Any

from assay.names import Registry
from assay.pipeline.executors.executor import Executor

EXECUTORS: Registry[Executor] = Registry(
    "executor",
    Executor,  # type: ignore[type-abstract]
    {
        "local": "assay.pipeline.executors.local:LocalExecutor",
        "ray_data": "assay.pipeline.executors.ray_data:RayDataExecutor",
        "ray_actors": "assay.pipeline.executors.ray_actors:RayActorsExecutor",
        "xenna": "assay.pipeline.executors.xenna:XennaExecutor",
    },
)
"""Imported only when asked for: Ray takes seconds."""


def executor_named(name: str, **options: Any) -> Executor:
    """`options` go to the executor's constructor (`workers` is known to all of them)."""
    return EXECUTORS.find(name)(**options)
