from __future__ import annotations

from importlib import import_module
from typing import Any, cast

from assay.errors import UsageError
from assay.names import unknown
from assay.pipeline.executors.executor import Executor

EXECUTORS = {
    "local": "assay.pipeline.executors.local:LocalExecutor",
    "ray_data": "assay.pipeline.executors.ray_data:RayDataExecutor",
    "ray_actors": "assay.pipeline.executors.ray_actors:RayActorsExecutor",
    "xenna": "assay.pipeline.executors.xenna:XennaExecutor",
}
"""Imported only when asked for: Ray takes seconds."""


def executor_named(name: str, **options: Any) -> Executor:
    """`options` go to the executor's constructor (`workers` is known to all of them)."""
    if name not in EXECUTORS:
        raise UsageError(unknown("executor", name, EXECUTORS))
    module, _, attribute = EXECUTORS[name].partition(":")
    return cast(Executor, getattr(import_module(module), attribute)(**options))
