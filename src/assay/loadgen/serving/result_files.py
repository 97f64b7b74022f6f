from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay.errors import MissingExtra
from assay.files.json_text import encode
from assay.files.writing import open_new, write_atomic
from assay.loadgen.serving.load_point import LoadPoint, point_metrics
from assay.loadgen.serving.objectives import FORMULAS, FROM_SEND_FORMULA, TIMES
from assay.loadgen.serving.request_metrics import quantiles
from assay.loadgen.serving.saturation import load_over_time, time_bins
from assay.record import SERVING_FILE

_SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}


def point_json(point: LoadPoint, label: str = "", valid: bool | None = None) -> dict[str, Any]:
    """One load, as `points` of serving.json have it."""
    verdict = point.verdict
    return {
        "label": label or point.asked.words,
        "asked": point.asked.to_json(),
        "delivered": {
            "rate": finite(point.delivered.rate),
            "in_flight": finite(point.delivered.in_flight),
            "share": finite(point.delivered.share),
            "scheduled": point.delivered.scheduled,
            "sent": point.delivered.sent,
            "held_back": point.delivered.held_back,
            "lateness_s_p50": finite(point.delivered.lateness_p50 / 1e9),
            "lateness_s_p99": finite(point.delivered.lateness_p99 / 1e9),
        },
        "verdict": {
            "valid": verdict.of_server and point.objectives_met if valid is None else valid,
            "of_server": verdict.of_server,
            "client_bottleneck": verdict.client_bottleneck,
            "undelivered": verdict.undelivered,
            "saturated": verdict.saturated,
            "failed": verdict.failed,
        },
        "objectives": [
            {"objective": result.objective.words, "met": result.met, "sure": result.sure, "over": result.over,
             "total": result.total, "reason": result.reason}
            for result in point.objectives
        ],
        "duration_s": point.duration_s,
        "warmup_requests": point.warmup,
        "client": {"name": point.exchanges.client, "cpu_share": finite(point.cpu_share), "ceiling": point.ceiling},
        "counted_by": point.tokens.source,
        "metrics": {metric.name: finite(metric.value) for metric in point_metrics(point)},
        "errors": dict(point.errors),
        "histograms": {name: _histogram(point, name) for name in TIMES if len(point.times.values(name))},
        "over_time": load_over_time(point.times).to_json(),
        "notes": [*point.notes, *point.exchanges.notes],
    }  # fmt: skip


def _histogram(point: LoadPoint, name: str) -> dict[str, Any]:
    values = point.times.values(name)
    marks = dict(zip(_SHARES, quantiles(values, list(_SHARES.values())), strict=True))
    return {**time_bins(values), "quantiles_s": {share: at / 1e9 for share, at in marks.items()}, "count": len(values)}


def finite(value: Any) -> Any:
    """None for what was not measured: readers of other languages know no NaN."""
    return None if isinstance(value, float) and not isfinite(value) else value


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


VERSION = 1
FILE_NAME = SERVING_FILE


@dataclass(frozen=True)
class RateCurve:
    """Loads at several rates, and the highest rate that was kept, where it was looked for."""

    valid: Sequence[bool]
    """Whether each point met the objectives under the load that was asked for."""
    peak_rate: float | None = None
    peak_bounded: bool = False
    """A higher rate was tried and was not kept."""
    peak_confirmed: bool = False
    """The peak was kept a second time."""
    sought: bool = False
    """A peak was looked for."""

    def to_json(self, points: Sequence[LoadPoint]) -> dict[str, Any]:
        return {
            "points": [_curve_point(point, valid) for point, valid in zip(points, self.valid, strict=True)],
            "peak": {"rate": self.peak_rate, "bounded": self.peak_bounded, "confirmed": self.peak_confirmed}
            if self.sought
            else None,
        }


def write_serving(
    folder: Path, about: dict[str, Any], points: Sequence[LoadPoint], curve: RateCurve | None = None
) -> None:
    """`about`: the endpoint and the prompts. One point, or with a curve one for each rate."""
    marks = [None] * len(points) if curve is None else curve.valid
    written = {
        "version": VERSION,
        **about,
        "points": [point_json(point, valid=valid) for point, valid in zip(points, marks, strict=True)],
        "curve": None if curve is None else curve.to_json(points),
        "definitions": {**FORMULAS, "…_from_send": FROM_SEND_FORMULA},
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / FILE_NAME, encode(written))


def _curve_point(point: LoadPoint, valid: bool) -> dict[str, Any]:
    """What a chart of latency against rate draws; `times` is empty for a load whose times are not the server's."""
    metrics = {metric.name: finite(metric.value) for metric in point_metrics(point)}
    times = {name: value for name, value in metrics.items() if "_s_p" in name and not name.startswith("lateness")}
    rates = ("requests_per_s", "output_tokens_per_s", "goodput_requests_per_s", "goodput_tokens_per_s")
    return {
        "rate": point.asked.rate,
        "concurrency": point.asked.concurrency if point.asked.loop == "closed" else None,
        "delivered_share": finite(point.delivered.share),
        "valid": valid,
        "saturated": point.saturation is not None,
        "client_bottleneck": bool(point.verdict.client_bottleneck),
        **{name: metrics.get(name) for name in rates},
        "times": times,
        "errors": point.error_count,
    }
