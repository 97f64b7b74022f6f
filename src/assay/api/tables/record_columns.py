"""Records as columns of one type each, which every table library takes as they are.

One row a run. Metrics keep their names; parameters and usage are under `params.` and `usage.`, so is a metric whose
name a field of the record has (`metrics.outcome`). What is no scalar becomes JSON text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from assay.record import Record
from assay.record.metric import as_float
from assay.record.writing.strict_json import encode

Column = list[Any]
_MOST_INTEGER = 2**63


def record_columns(records: Sequence[Record]) -> dict[str, Column]:
    rows = [_row(record) for record in records]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _one_type([row.get(name) for row in rows]) for name in _order(names)}


def _row(record: Record) -> dict[str, Any]:
    row: dict[str, Any] = {
        "session": record.session,
        "entry": record.name,
        "run_id": record.run_id,
        "repeat": record.repeat,
        "outcome": str(record.outcome),
        "success": record.success,
        "started_at": datetime.fromisoformat(record.started_at),
        "git_commit": record.git_commit,
        "machine": record.fingerprint.machine,
        "warmup": record.warmup,
        "superseded": record.superseded,
        "reasons": "; ".join(record.reasons),
    }
    fields = set(row)
    usage = record.usage.to_json() if record.usage.samples else {}
    measured = {f"usage.{name}": value for name, value in usage.items()}
    metrics = {name: metric.value for name, metric in record.metrics.items()}
    row.update({f"metrics.{name}" if name in fields else name: value for name, value in metrics.items()})
    row.update(measured)
    row.update({f"params.{name}": value for name, value in record.script_params.items()})
    return row


def _order(names: Iterable[str]) -> list[str]:
    """Fields first, then metrics, usage and parameters, each in the order of their first appearance."""
    return sorted(names, key=lambda name: name.startswith("usage.") + 2 * name.startswith("params."))


def _one_type(values: Column) -> Column:
    kinds = {_kind(value) for value in values if value is not None}
    if len(kinds) == 1 and kinds <= {"bool", "int", "float", "time"}:
        return values
    if kinds <= {"int", "float", "huge"}:
        return [None if value is None else as_float(value) for value in values]
    return [None if value is None else _text(value) for value in values]


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if -_MOST_INTEGER <= value < _MOST_INTEGER else "huge"
    if isinstance(value, float):
        return "float"
    return "time" if isinstance(value, datetime) else "text"


def _text(value: Any) -> str:
    """A lone surrogate, which no table library can store, becomes a question mark."""
    text = value if isinstance(value, str) else encode(dict(value) if isinstance(value, Mapping) else value)
    return text.encode("utf-8", "replace").decode()
