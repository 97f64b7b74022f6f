from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay.errors import MissingExtra
from assay.loadgen.serving.measured.load_point import LoadPoint
from assay.untrusted.writing import open_new

RowFormat = Literal["parquet", "csv", "jsonl", "none"]
COLUMNS = (
    "point", "request", "intended_s", "sent_s", "end_s", "status", "error", "attempts", "ttft_s",
    "first_output_token_s", "tpot_s", "latency_s", "latency_s_from_send", "chunks", "output_tokens", "input_tokens",
    "output_tokens_by_tokenizer", "met_objectives",
)  # fmt: skip
"""Columns of the file. Names in `_s` are seconds (points in time: from the start); empty where a request has none."""


@dataclass(frozen=True)
class RowColumn:
    """Values of all requests, and which of them have one."""

    values: NDArray[Any]
    known: NDArray[np.bool_]

    def to_list(self) -> list[Any]:
        """None where nothing is known."""
        pairs = zip(self.values.tolist(), self.known.tolist(), strict=True)
        return [value if known else None for value, known in pairs]


def request_columns(points: Sequence[LoadPoint]) -> dict[str, RowColumn]:
    parts = [_columns(number, point) for number, point in enumerate(points)]
    return {
        name: RowColumn(
            np.concatenate([part[name].values for part in parts]), np.concatenate([part[name].known for part in parts])
        )
        for name in COLUMNS
    }


def write_request_rows(folder: Path, points: Sequence[LoadPoint], form: RowFormat | None = None) -> Path | None:
    """Writes `requests.parquet`, `.csv` or `.jsonl`; without `form`, Parquet where that can be written."""
    if form is None:
        form = "parquet" if find_spec("pyarrow") is not None else "csv"
    if form == "none":
        return None
    columns, path = request_columns(points), folder / f"requests.{form}"
    if form == "parquet":
        _write_parquet(columns, path)
        return path
    rows = zip(*(column.to_list() for column in columns.values()), strict=True)
    with open_new(path, newline="") as out:
        if form == "csv":
            csv.writer(out).writerows([COLUMNS, *rows])
        else:
            out.writelines(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n" for row in rows)
    return path


def _write_parquet(columns: Mapping[str, RowColumn], path: Path) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("pyarrow, which writes Parquet,", "loadgen") from None
    pq.write_table(pa.table({name: _arrow_array(pa, column) for name, column in columns.items()}), path)


def _arrow_array(pa: Any, column: RowColumn) -> Any:
    """An Arrow array on the same memory: given a numpy array or a list, pyarrow imports pandas, which takes half a
    second."""
    values, count = column.values, len(column.values)
    known = None if column.known.all() else pa.py_buffer(np.packbits(column.known, bitorder="little"))
    if values.dtype.kind == "O":
        texts = [text.encode() for text in values]
        ends = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int32)
        return pa.Array.from_buffers(pa.string(), count, [known, pa.py_buffer(ends), pa.py_buffer(b"".join(texts))])
    if values.dtype.kind == "b":
        bits = pa.py_buffer(np.packbits(values, bitorder="little"))
        return pa.Array.from_buffers(pa.bool_(), count, [known, bits])
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(values.dtype), count, [known, pa.py_buffer(np.ascontiguousarray(values))]
    )


def _columns(number: int, point: LoadPoint) -> dict[str, RowColumn]:
    rows, times, start = point.exchanges.rows, point.times, point.exchanges.start_ns
    count = len(rows)
    values: dict[str, RowColumn] = {
        "point": _all(np.full(count, number)),
        "request": _all(np.arange(count)),
        "intended_s": _all((rows["intended_ns"] - start) / 1e9),
        "sent_s": _make_column((rows["sent_ns"] - start) / 1e9, rows["sent_ns"] > 0),
        "end_s": _all((rows["end_ns"] - start) / 1e9),
        "status": _all(rows["status"]),
        "error": _all(np.asarray(point.replies.failures, dtype=object)),
        "attempts": _all(rows["attempts"]),
        "chunks": _all(point.replies.chunks),
        "output_tokens": _make_column(times.output_tokens, times.output_tokens >= 0),
        "input_tokens": _make_column(point.tokens.input, point.tokens.input >= 0),
        "output_tokens_by_tokenizer": _make_column(point.tokens.tokenizer_output, point.tokens.tokenizer_output >= 0),
        "met_objectives": _all(point.met),
    }
    for name in ("ttft_s", "first_output_token_s", "tpot_s", "latency_s", "latency_s_from_send"):
        mine = times.per_request[name]
        values[name] = _make_column(mine / 1e9, mine >= 0)
    return values


def _all(values: Any) -> RowColumn:
    return RowColumn(np.asarray(values), np.ones(len(values), np.bool_))


def _make_column(values: Any, known: Any) -> RowColumn:
    return RowColumn(np.asarray(values), np.asarray(known, np.bool_))
