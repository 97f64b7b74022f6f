"""Anybody's numbers as they come: lists, tuples, iterators, numpy, pandas, or one number alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from datetime import UTC, datetime
from math import isfinite, nan
from pathlib import Path
from typing import Any

from assay.analysis.colocation.read_colocation import FILE_NAME as COLOCATION
from assay.analysis.colocation.read_colocation import read_colocation
from assay.errors import DataError, UsageError
from assay.files.json_text import read_json, untag
from assay.files.reading import RESULT
from assay.record import METRICS_FILE, PARAMS_FILE, Fingerprint, Outcome, Record, SessionFolder
from assay.record.environment import digest
from assay.record.metric import DETAILS, VALUES, as_float, doubts, together
from assay.record.task import with_task_metrics
from assay.record.tasks_file import read_tasks

_MISSING = ("NAType", "NaTType")
"""What pandas writes where there is no value; it need not be installed here."""


def plain_values(given: Any, name: str) -> list[Any]:
    """One value a run, as Python's own types; `name` is the argument's, for the message."""
    if isinstance(given, str | bytes | bool | int | float) or getattr(given, "ndim", None) == 0:
        return [_own(given)]
    if not isinstance(given, Iterable):
        raise UsageError(f"{name} is {_kind(given)}: give a sequence, one value a run")
    if isinstance(given, Mapping | Set):
        raise UsageError(f"{name} is {_kind(given)}, whose values have no order: give a list, one value a run")
    return [_own(value) for value in given]


def plain_numbers(given: Any, name: str) -> list[float]:
    """NaN where a value is missing."""
    return [_as_number(value, f"{name}[{at}]") for at, value in enumerate(plain_values(given, name))]


def first_not_finite(values: Iterable[float], name: str) -> str:
    return next((f"{name}[{at}] is {value}" for at, value in enumerate(values) if not isfinite(value)), "")


def _own(value: Any) -> Any:
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "ndim", None) == 0 else value


def _as_number(value: Any, where: str) -> float:
    if value is None or type(value).__name__ in _MISSING:
        return nan
    if not isinstance(value, str | bytes | bytearray):
        try:
            return as_float(value)
        except (TypeError, ValueError):
            pass
    raise UsageError(f"{where} is {_kind(value)}, not a number: give one number a run")


def _kind(value: Any) -> str:
    text = repr(value)
    return f"{text if len(text) <= 40 else text[:40] + '…'} ({type(value).__name__})"


_SECONDS = ("time_taken", "time_taken_s", "elapsed_s")


def is_results_folder(path: Path) -> bool:
    """What a program that was run alone left: not a session, but it holds what it measured."""
    written = any(os.path.isfile(path / name) for name in (METRICS_FILE, COLOCATION))
    return written and not SessionFolder.is_one(path)


def read_any_results(path: Path) -> tuple[Record, ...]:
    """Records of any program that keeps the contract (`assay weights bench` among them), or of `assay colocate`."""
    return (read_results_folder(path),) if (path / METRICS_FILE).is_file() else read_colocation(path)


def read_results_folder(path: Path) -> Record:
    """What one program wrote when it was run alone, as a record: `metrics.json`, and `params.json` and tasks if any.

    Two such folders count as the same entry: who compares them says so by naming both.
    """
    metrics = _read(path / VALUES, required=True)
    details = _read(path / DETAILS, required=False)
    params = _read(path / PARAMS_FILE, required=False)
    read = read_tasks(path)
    written = datetime.fromtimestamp((path / VALUES).stat().st_mtime, UTC)
    lasting = {key: value for key, value in params.items() if not (isinstance(value, str) and "/" in value)}
    version = lasting.pop("workload_version", None)
    seconds = next((_number(metrics[name]) for name in _SECONDS if name in metrics), 0.0)
    with_tasks, more, warnings = with_task_metrics(metrics, details, read.pipelines)
    return Record(
        name="results",
        session=path.name,
        run_id=f"{path.name}/results/run-01",
        outcome=Outcome.FAILED if metrics.get("is_success") is False else Outcome.PASSED,
        started_at=written.isoformat(timespec="microseconds"),
        fingerprint=Fingerprint("results", digest(lasting), "" if version is None else f"version {version}", ""),
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
