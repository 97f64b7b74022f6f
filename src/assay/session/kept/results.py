from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.record import TaskPerf
from assay.record.metric import doubts
from assay.record.metrics_files import DETAILS, VALUES, together
from assay.record.task_metrics import with_task_metrics
from assay.record.tasks_file import TasksRead, read_tasks
from assay.record.warnings_file import read_warnings
from assay.record.writing.strict_json import untag
from assay.untrusted.json_text import read_json
from assay.untrusted.read_limit import RESULT
from assay.untrusted.unreadable import Unreadable


@dataclass
class ProgramResults:
    """What a benchmark program wrote, as far as it can be read."""

    params: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    metrics_detail: Mapping[str, Any] = field(default_factory=dict)
    tasks: list[TaskPerf] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def read_results(folder: Path, required: bool, tasks: bool = True) -> ProgramResults:
    results = ProgramResults()
    results.params = _read(folder / "params.json", required, results.problems)
    results.metrics = _read(folder / VALUES, required, results.problems)
    read = read_tasks(folder) if tasks else TasksRead()
    results.tasks, results.warnings = read.tasks, list(read.warnings)
    details = _read(folder / DETAILS, False, results.warnings)
    results.warnings += doubts(together(results.metrics, details))
    results.metrics, results.metrics_detail, more = with_task_metrics(results.metrics, details, read.pipelines)
    results.warnings += [*more, *read_warnings(folder)]
    return results


def _read(path: Path, required: bool, problems: list[str]) -> Mapping[str, Any]:
    try:
        content = read_json(path, RESULT, untag)
    except FileNotFoundError:
        if required:
            problems.append(f"wrote no {path.name} in {path.parent}")
        return {}
    except Unreadable as error:
        problems.append(f"{path.name} {error.reason}")
        return {}
    if not isinstance(content, dict):
        problems.append(f"{path.name} holds a {type(content).__name__}, not an object of names and values")
        return {}
    return content
