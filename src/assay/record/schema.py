"""Older records are read for ever: each step below lifts a record from one version to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.errors import DataError
from assay.record.record import SCHEMA_VERSION


def upgrade(written: Mapping[str, Any]) -> dict[str, Any]:
    record = dict(written)
    version = record.get("schema_version", 1)
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version <= SCHEMA_VERSION:
        raise DataError(
            f"record {record.get('name')!r} has schema version {version!r}; this Assay reads 1 to {SCHEMA_VERSION}"
        )
    while version < SCHEMA_VERSION:
        record = _STEPS[version](record)
        version += 1
    return record


def _from_1(record: dict[str, Any]) -> dict[str, Any]:
    """The ten fields the older framework wrote: no outcome, no session, no fingerprint."""
    if record.get("timeout"):
        outcome = "timeout"
    else:
        outcome = "passed" if record.get("success") else "failed"
    name = str(record.get("name", "unnamed"))
    session = str(record.get("session", "imported"))
    return {
        "outcome": outcome,
        "session": session,
        "run_id": f"{session}/{name}/run-01",
        "started_at": "1970-01-01T00:00:00+00:00",
        "fingerprint": {"entry": name},
        **record,
        "name": name,
        "tasks": [],
        "schema_version": 2,
    }


_STEPS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _from_1}
