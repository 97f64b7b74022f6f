"""Statistics of timed tasks as metrics of a record: `task_<stage>_<metric>_{sum,mean,std,p50,p95,p99}`.

A stage has many of them, and most move together: so they have no direction, and are no question that a comparison
must answer, unless somebody declares one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from assay.record.task_perf import TaskPerf
from assay.record.task_statistics import STATISTICS, TaskPerfUtils

PREFIX = "task"
MOST = 1200
"""Statistics of one run that become metrics; a program that names its stages by number would fill every table."""
_NAME = re.compile(rf"{PREFIX}_.+_({'|'.join(STATISTICS)})", re.DOTALL)
_SECONDS = re.compile(rf".*_time_({'|'.join(STATISTICS)})", re.DOTALL)


def is_task_metric(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def with_task_metrics(
    values: Mapping[str, Any], details: Mapping[str, Any], pipelines: Mapping[str, list[TaskPerf]]
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Values and details of the program with those of its tasks behind them, and warnings. Its own names win."""
    found = TaskPerfUtils.aggregate_task_metrics(pipelines, prefix=PREFIX)
    added = {name: found[name] for name in list(found)[:MOST] if name not in values}
    units = {name: {"unit": "s"} for name in added if _SECONDS.fullmatch(name)}
    left = len(found) - MOST
    warnings = [f"the tasks give {len(found)} statistics; {left} did not become metrics"] if left > 0 else []
    return {**values, **added}, {**units, **details}, warnings
