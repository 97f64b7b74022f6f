from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from assay.errors import MissingExtra
from assay.loadgen.serving.measured.load_point import LoadPoint

RowFormat = Literal["parquet", "csv", "jsonl", "none"]
COLUMNS = (
    "point", "request", "intended_s", "sent_s", "end_s", "status", "error", "attempts", "ttft_s",
    "first_output_token_s", "tpot_s", "latency_s", "latency_s_from_send", "chunks", "output_tokens", "input_tokens",
    "output_tokens_by_tokenizer", "met_objectives",
)  # fmt: skip
"""`…_s` are seconds, those of a clock from the start; empty where a request has none."""


Column = np.ma.MaskedArray[Any, Any]


def request_columns(points: Sequence[LoadPoint]) -> dict[str, Column]:
    """A column each, masked where a request has no value."""
    parts = [_columns(number, point) for number, point in enumerate(points)]
    return {name: np.ma.concatenate([part[name] for part in parts]) for name in COLUMNS}


def write_request_rows(folder: Path, points: Sequence[LoadPoint], form: RowFormat) -> Path | None:
    """`requests.parquet`, `.csv` or `.jsonl`."""
    if form == "none":
        return None
    columns, path = request_columns(points), folder / f"requests.{form}"
    if form == "parquet":
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise MissingExtra("pyarrow, which writes Parquet,", "loadgen") from None
        arrays = {name: pa.array(values.data, mask=np.ma.getmaskarray(values)) for name, values in columns.items()}
        pq.write_table(pa.table(arrays), path)
        return path
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    with path.open("w", encoding="utf-8", newline="") as out:
        if form == "csv":
            csv.writer(out).writerows([COLUMNS, *rows])
        else:
            out.writelines(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n" for row in rows)
    return path


def _columns(number: int, point: LoadPoint) -> dict[str, Column]:
    rows, times, start = point.exchanges.rows, point.times, point.exchanges.start_ns
    count = len(rows)
    values: dict[str, Column] = {
        "point": _all(np.full(count, number)),
        "request": _all(np.arange(count)),
        "intended_s": _all((rows["intended_ns"] - start) / 1e9),
        "sent_s": _known((rows["sent_ns"] - start) / 1e9, rows["sent_ns"] > 0),
        "end_s": _all((rows["end_ns"] - start) / 1e9),
        "status": _all(rows["status"]),
        "error": _all(np.asarray(point.replies.failures, dtype=object)),
        "attempts": _all(rows["attempts"]),
        "chunks": _all(point.replies.chunks),
        "output_tokens": _known(times.output_tokens, times.output_tokens >= 0),
        "input_tokens": _known(point.tokens.input, point.tokens.input >= 0),
        "output_tokens_by_tokenizer": _known(point.tokens.tokenizer_output, point.tokens.tokenizer_output >= 0),
        "met_objectives": _all(point.met),
    }
    for name in ("ttft_s", "first_output_token_s", "tpot_s", "latency_s", "latency_s_from_send"):
        mine = times.per_request[name]
        values[name] = _known(mine / 1e9, mine >= 0)
    return values


def _all(values: Any) -> Column:
    return np.ma.MaskedArray(values)


def _known(values: Any, known: Any) -> Column:
    return np.ma.MaskedArray(values, ~known)
