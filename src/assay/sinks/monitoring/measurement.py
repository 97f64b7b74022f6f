from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from assay.record import Metric, Record

_NUMBERS = (bool, int, float)


@dataclass(frozen=True)
class Measurement:
    """One number for a monitoring system: which series it belongs to, when it was measured."""

    name: str
    """`assay_metric`, `assay_run_success` …: a valid name in every system."""
    value: float
    labels: Mapping[str, str]
    at_ms: int
    unit: str = ""
    series: str = ""
    """The metric's own name, where `name` is `assay_metric`."""


HELP = {
    "assay_metric": "A metric of a benchmark entry's latest run.",
    "assay_run_success": "1 if the entry's latest run passed, otherwise 0.",
    "assay_run_duration_seconds": "How long the entry's latest run took.",
    "assay_run_finished_timestamp_seconds": "When the entry's latest run ended.",
    "assay_run_info": "Which run the other series are of.",
}


def of_record(record: Record, host: str = "") -> Iterator[Measurement]:
    """Series keep their identity from session to session; which run a value is of stands in `assay_run_info`."""
    ended = end_ms(record)
    entry = {"entry": record.name, "repeat": str(record.repeat), "host": host}
    yield Measurement("assay_run_success", float(record.success), entry, ended)
    yield Measurement("assay_run_duration_seconds", record.exec_time_s, entry, ended, "s")
    yield Measurement("assay_run_finished_timestamp_seconds", ended / 1000, entry, ended, "s")
    told = {"session": record.session, "run_id": record.run_id, "outcome": str(record.outcome)}
    yield Measurement("assay_run_info", 1.0, {**entry, **told, "git_commit": record.git_commit or ""}, ended)
    yield from _of_metrics(record.metrics.values(), entry, ended)


def of_metrics(metrics: Iterable[Metric], entry: str, at_ms: int) -> Iterator[Measurement]:
    """Measurements of results that are no records."""
    return _of_metrics(metrics, {"entry": entry, "repeat": "1", "host": ""}, at_ms)


def _of_metrics(metrics: Iterable[Metric], entry: Mapping[str, str], at_ms: int) -> Iterator[Measurement]:
    for metric in metrics:
        if isinstance(metric.value, _NUMBERS):
            labels = {**entry, "metric": metric.name, "unit": metric.unit or "", "better": metric.better or ""}
            yield Measurement("assay_metric", float(metric.value), labels, at_ms, metric.unit or "", metric.name)


def numbers_in(value: Any, path: str = "") -> Iterator[Metric]:
    """Every number, however deep, named by its path."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from numbers_in(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, _NUMBERS):
        yield Metric(path, value)


def end_ms(record: Record) -> int:
    try:
        began = datetime.fromisoformat(record.started_at).timestamp()
    except ValueError:
        began = 0.0
    return round((began + record.exec_time_s) * 1000)


def plain_name(name: str) -> str:
    """Letters, digits and `_` only, as metric names of most systems are."""
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")
    return plain if plain[:1].isalpha() else f"m_{plain}"
