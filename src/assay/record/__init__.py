"""The result contract: what a benchmark program writes, and what Assay keeps of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.exports import exports

if TYPE_CHECKING:
    from assay.record.environment import Environment, Fingerprint
    from assay.record.metric import Metric
    from assay.record.record import Outcome, Record, RequirementResult, Usage
    from assay.record.session_folder import SessionFolder, SessionInfo
    from assay.record.task import Task, TaskPerf, TaskPerfUtils

# Files of a session. They are named here, where reading the names costs nothing.
SESSION_FILE = "session.json"
LOG_FILE = "session.log"
ENVIRONMENT_FILE = "env.json"
RESULTS_FILE = "results.jsonl"
REPORT_FILE = "report.html"
COMPARISON_FILE = "comparison.json"

# Files of a run, and what programs write there.
OUTPUT_FILE = "stdouterr.log"
USAGE_FILE = "usage.csv"
PARAMS_FILE = "params.json"
METRICS_FILE = "metrics.json"
TASKS_FILE = "tasks.jsonl"
TASKS_PICKLE = "tasks.pkl"
COLOCATION_FILE = "colocation.json"
SERVING_FILE = "serving.json"

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
        "Environment": "environment",
        "Fingerprint": "environment",
        "Metric": "metric",
        "Outcome": "record",
        "Record": "record",
        "RequirementResult": "record",
        "SessionFolder": "session_folder",
        "SessionInfo": "session_folder",
        "Task": "task",
        "TaskPerf": "task",
        "TaskPerfUtils": "task",
        "Usage": "record",
    },
)
