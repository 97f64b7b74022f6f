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


def request_columns(points: Sequence[LoadPoint]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for number, point in enumerate(points):
        rows, times, start = point.exchanges.rows, point.times, point.exchanges.start_ns
        count = len(rows)
        values: dict[str, list[Any]] = {
            "point": [number] * count,
            "request": list(range(count)),
            "intended_s": ((rows["intended_ns"] - start) / 1e9).tolist(),
            "sent_s": _known((rows["sent_ns"] - start) / 1e9, rows["sent_ns"] > 0),
            "end_s": ((rows["end_ns"] - start) / 1e9).tolist(),
            "status": rows["status"].tolist(),
            "error": list(point.replies.failures),
            "attempts": rows["attempts"].tolist(),
            "chunks": point.replies.chunks.tolist(),
            "output_tokens": _known(times.output_tokens, times.output_tokens >= 0),
            "input_tokens": _known(point.tokens.input, point.tokens.input >= 0),
            "output_tokens_by_tokenizer": _known(point.tokens.tokenizer_output, point.tokens.tokenizer_output >= 0),
            "met_objectives": point.met.tolist(),
        }
        for name in ("ttft_s", "first_output_token_s", "tpot_s", "latency_s", "latency_s_from_send"):
            mine = times.per_request[name]
            values[name] = _known(mine / 1e9, mine >= 0)
        for name in COLUMNS:
            found[name] += values[name]
    return found


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
        pq.write_table(pa.table(columns), path)
    else:
        with path.open("w", encoding="utf-8", newline="") as out:
            rows = zip(*columns.values(), strict=True)
            if form == "csv":
                csv.writer(out).writerows([COLUMNS, *rows])
            else:
                out.writelines(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n" for row in rows)
    return path


def _known(values: Any, known: Any) -> list[Any]:
    """None where nothing is known."""
    return [value if is_known else None for value, is_known in zip(values.tolist(), np.asarray(known), strict=True)]
