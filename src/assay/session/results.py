from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.record import TaskPerf
from assay.record.strict_json import decode
from assay.record.tasks_file import read_tasks

MAX_BYTES = 64 * 2**20


@dataclass
class ProgramResults:
    """What a benchmark program wrote, as far as it can be read."""

    params: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    tasks: list[TaskPerf] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def read_results(folder: Path, required: bool) -> ProgramResults:
    results = ProgramResults()
    results.params = _read(folder / "params.json", required, results.problems)
    results.metrics = _read(folder / "metrics.json", required, results.problems)
    read = read_tasks(folder)
    results.tasks, results.warnings = read.tasks, read.warnings
    return results


def _read(path: Path, required: bool, problems: list[str]) -> Mapping[str, Any]:
    try:
        if path.stat().st_size > MAX_BYTES:
            problems.append(f"{path.name} is larger than {MAX_BYTES >> 20} MB")
            return {}
        content = decode(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        if required:
            problems.append(f"wrote no {path.name} in {path.parent}")
        return {}
    except json.JSONDecodeError as error:
        problems.append(f"{path.name} is not valid JSON: line {error.lineno}, column {error.colno}: {error.msg}")
        return {}
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        problems.append(f"{path.name} cannot be read: {error}")
        return {}
    if not isinstance(content, dict):
        problems.append(f"{path.name} holds a {type(content).__name__}, not an object of names and values")
        return {}
    return content
