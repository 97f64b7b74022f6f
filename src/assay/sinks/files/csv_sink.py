from __future__ import annotations

import csv
import io
from typing import Any

from assay.record import Record
from assay.sinks.files.appended_file import AppendedFile
from assay.sinks.key import Key
from assay.sinks.sink import Sink

COLUMNS = ("session", "entry", "repeat", "run_id", "started_at", "outcome", "metric", "value", "unit", "better")


class CsvSink(Sink):
    """One row a metric, so that entries with different metrics fit one table and a spreadsheet can pivot it."""

    summary = "one row for each metric of each run, appended to a CSV file that many sessions may share"
    keys = (Key("path", "the file; a relative path is meant from the session's folder (default: sinks/metrics.csv)"),)

    def process_result(self, result: dict[str, Any]) -> None:
        record = Record.from_json(result)
        path = self.context.folder / self.config.get("path", "sinks/metrics.csv")
        rows = _rows(record) or [(*_run(record), "", "", "", "")]
        AppendedFile(path, self.context.memory, self.context.folder).append(
            self.context.message_key, _text(rows), _text([COLUMNS])
        )
        self.context.announce("CSV", str(path))


def _run(record: Record) -> tuple[Any, ...]:
    return (record.session, record.name, record.repeat, record.run_id, record.started_at, str(record.outcome))


def _rows(record: Record) -> list[tuple[Any, ...]]:
    return [
        (*_run(record), name, metric.value, metric.unit or "", metric.better or "")
        for name, metric in record.metrics.items()
    ]


def _text(rows: list[tuple[Any, ...]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([tuple(map(_inert, row)) for row in rows])
    return out.getvalue()


def _inert(value: Any) -> Any:
    """A spreadsheet runs a text that begins like a formula; metrics and names come from programs we do not trust."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
