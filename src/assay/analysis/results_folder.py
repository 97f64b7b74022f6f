from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.analysis.colocation_folder import FILE_NAME as COLOCATION
from assay.analysis.colocation_folder import read_colocation
from assay.errors import DataError
from assay.record import Fingerprint, Outcome, Record, SessionFolder
from assay.record.metric import doubts
from assay.record.metrics_files import DETAILS, VALUES, together
from assay.record.surroundings.fingerprint import digest
from assay.record.task_metrics import with_task_metrics
from assay.record.tasks_file import read_tasks
from assay.record.writing.strict_json import untag
from assay.untrusted.json_text import read_json
from assay.untrusted.read_limit import RESULT

_SECONDS = ("time_taken", "time_taken_s", "elapsed_s")


def is_results_folder(path: Path) -> bool:
    """What a program that was run alone left: not a session, but it holds what it measured."""
    written = any(os.path.isfile(path / name) for name in ("metrics.json", COLOCATION))
    return written and not SessionFolder.is_one(path)


def read_any_results(path: Path) -> tuple[Record, ...]:
    """Records of any program that keeps the contract (`assay weights bench` among them), or of `assay colocate`."""
    return (read_results_folder(path),) if (path / "metrics.json").is_file() else read_colocation(path)


def read_results_folder(path: Path) -> Record:
    """What one program wrote when it was run alone, as a record: `metrics.json`, and `params.json` and tasks if any.

    Two such folders count as the same entry: who compares them says so by naming both.
    """
    metrics = _read(path / VALUES, required=True)
    details = _read(path / DETAILS, required=False)
    params = _read(path / "params.json", required=False)
    read = read_tasks(path)
    written = datetime.fromtimestamp((path / VALUES).stat().st_mtime, UTC)
    lasting = {key: value for key, value in params.items() if not (isinstance(value, str) and "/" in value)}
    seconds = next((_number(metrics[name]) for name in _SECONDS if name in metrics), 0.0)
    with_tasks, more, warnings = with_task_metrics(metrics, details, read.pipelines)
    return Record(
        name="results",
        session=path.name,
        run_id=f"{path.name}/results/run-01",
        outcome=Outcome.FAILED if metrics.get("is_success") is False else Outcome.PASSED,
        started_at=written.isoformat(timespec="microseconds"),
        fingerprint=Fingerprint("results", digest(lasting), "", ""),
        exec_time_s=seconds,
        script_params=params,
        script_metrics=with_tasks,
        tasks=tuple(read.tasks),
        metrics_detail=more,
        warnings=(*doubts(together(metrics, details)), *warnings),
    )


def _number(written: object) -> float:
    value = written.get("value") if isinstance(written, dict) else written
    return float(value) if isinstance(value, int | float) else 0.0


def _read(path: Path, *, required: bool) -> dict[str, Any]:
    try:
        written = read_json(path, replace(RESULT, follow_links=True), untag)
    except FileNotFoundError:
        if required:
            raise DataError(f"{path.parent} has no {path.name}") from None
        return {}
    if not isinstance(written, dict):
        raise DataError(f"{path}: holds a {type(written).__name__}, not an object of names and values")
    return written
