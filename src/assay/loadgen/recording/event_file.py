from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from assay.errors import MissingExtra
from assay.loadgen.board import COLUMNS, OK, PIPELINE, TEST
from assay.loadgen.recording.decision_rows import ACTION_NAMES
from assay.loadgen.recording.spool import Rows
from assay.untrusted.writing import open_new

_CHUNK = 250_000
EVENT_COLUMNS = ("event", "phase", "stage_name", *COLUMNS)


def write_events(rows: Rows, names: Mapping[int, str], path: Path, decisions: Rows | None = None) -> None:
    """One row an event, in the order they were recorded, a policy's decisions last; Parquet or CSV by the name's
    ending. Times in nanoseconds."""
    parts = [rows] if decisions is None else [rows, decisions]
    if path.suffix == ".parquet":
        _parquet(parts, names, path)
    else:
        _csv(parts, names, path)


def _chunks(parts: Sequence[Rows]) -> Iterator[Rows]:
    for rows in parts:
        for first in range(0, len(rows), _CHUNK):
            yield np.asarray(rows[first : first + _CHUNK])


def _words(rows: Rows, names: Mapping[int, str]) -> dict[str, list[str]]:
    kinds = {TEST: "test", PIPELINE: "pipeline", **dict.fromkeys(ACTION_NAMES, "decision")}
    names = {**ACTION_NAMES, **names}
    stages = rows["stage"].tolist()
    return {
        "event": [kinds.get(stage, "stage") for stage in stages],
        "phase": ["warm-up" if query < 0 else "measured" for query in rows["query"].tolist()],
        "stage_name": [names.get(stage, "") for stage in stages],
    }


def _csv(parts: Sequence[Rows], names: Mapping[int, str], path: Path) -> None:
    with open_new(path, newline="") as file:
        writer = csv.writer(file)
        writer.writerow(EVENT_COLUMNS)
        for chunk in _chunks(parts):
            words = _words(chunk, names)
            writer.writerows(zip(*words.values(), *(_column(chunk, name) for name in COLUMNS), strict=True))


def _column(rows: Rows, name: str) -> list[int] | list[str]:
    return (
        ["ok" if value == OK else "error" for value in rows[name].tolist()] if name == "status" else rows[name].tolist()
    )


def _parquet(parts: Sequence[Rows], names: Mapping[int, str], path: Path) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("pyarrow, which writes Parquet,", "loadgen") from None
    word = pa.dictionary(pa.int32(), pa.string())
    texts = {"event", "phase", "stage_name", "status"}
    schema = pa.schema([(name, word if name in texts else pa.int64()) for name in EVENT_COLUMNS])
    with pq.ParquetWriter(path, schema) as writer:
        for chunk in _chunks(parts):
            columns = {**_words(chunk, names), **{name: _column(chunk, name) for name in COLUMNS}}
            writer.write_table(
                pa.table({name: pa.array(columns[name], schema.field(name).type) for name in EVENT_COLUMNS})
            )
