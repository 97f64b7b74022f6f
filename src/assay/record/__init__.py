"""The result contract: what a benchmark program writes, and what Assay keeps of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.exports import exports

if TYPE_CHECKING:
    from assay.record.metric import Metric
    from assay.record.outcome import Outcome
    from assay.record.record import Record
    from assay.record.requirement_result import RequirementResult
    from assay.record.session_files.session_folder import SessionFolder
    from assay.record.session_files.session_info import SessionInfo
    from assay.record.surroundings.environment import Environment
    from assay.record.surroundings.fingerprint import Fingerprint
    from assay.record.task import Task
    from assay.record.task_perf import TaskPerf
    from assay.record.task_statistics import TaskPerfUtils
    from assay.record.usage import Usage

__all__ = [
    "Environment",
    "Fingerprint",
    "Metric",
    "Outcome",
    "Record",
    "RequirementResult",
    "SessionFolder",
    "SessionInfo",
    "Task",
    "TaskPerf",
    "TaskPerfUtils",
    "Usage",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "Environment": "surroundings.environment",
        "Fingerprint": "surroundings.fingerprint",
        "Metric": "metric",
        "Outcome": "outcome",
        "Record": "record",
        "RequirementResult": "requirement_result",
        "SessionFolder": "session_files.session_folder",
        "SessionInfo": "session_files.session_info",
        "Task": "task",
        "TaskPerf": "task_perf",
        "TaskPerfUtils": "task_statistics",
        "Usage": "usage",
    },
)
