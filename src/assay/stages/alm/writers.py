from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from assay.errors import MissingExtra
from assay.pipeline import Part, Split, Writer
from assay.stages.alm.recording import normal_form
from assay.stages.alm.split_summary import Curated, SplitSummary, summarise


class ALMJsonlWriter(Writer[Curated]):
    """One JSON object a line, exactly as `json.dumps(…, ensure_ascii=False)` writes it."""

    name = "alm_jsonl_writer"
    needs = frozenset({"filtered_windows"})

    def __init__(self, folder: str | Path) -> None:
        super().__init__(folder, ".jsonl")

    def begin(self, split: Split) -> None:
        super().begin(split)
        self._summary = SplitSummary()

    def write(self, data: Curated, out: BinaryIO) -> int:
        self._summary.add(summarise(data, digest=False))
        done = 0
        for row, record in data.plain.items():
            if data.native is not None:
                data.native.write(done, row, out.fileno())
            out.write(normal_form(record).encode() + b"\n")
            done = row + 1
        if data.native is not None:
            data.native.write(done, data.rows, out.fileno())
        return len(data)

    def summary(self) -> SplitSummary:
        return self._summary


_NUMBERS = ("filtered_dur", "total_dur_window")
_LISTS = ("filtered_dur_list", "total_dur_list_window")
_NESTED = ("windows", "stats", "total_dur_list_window_timestamps", "filtered", "filtered_windows")
_TYPED = ("audio_filepath", "truncation_events", *_NUMBERS, *_LISTS, *_NESTED)


class ALMParquetWriter(Writer[Curated]):
    """Numbers and lists of numbers as columns of their own; windows, stats and the rest as JSON text.

    Segments carry whatever keys a manifest gives them, so a typed column for them would differ from part to part.
    """

    name = "alm_parquet_writer"
    needs = frozenset({"filtered_windows"})

    def __init__(self, folder: str | Path) -> None:
        super().__init__(folder, ".parquet")

    def begin(self, split: Split) -> None:
        super().begin(split)
        self._summary = SplitSummary()
        self._schema = _schema()
        self._parquet = _open(self._out, self._schema)

    def write(self, data: Curated, out: BinaryIO) -> int:
        import pyarrow

        self._summary.add(summarise(data, digest=False))
        rows = [_row(record) for record in _records(data)]
        self._parquet.write_table(pyarrow.Table.from_pylist(rows, schema=self._schema))
        return len(rows)

    def finish(self) -> Part:
        self._parquet.close()
        return super().finish()

    def summary(self) -> SplitSummary:
        return self._summary


def _open(out: Any, schema: Any) -> Any:
    from pyarrow.parquet import ParquetWriter as ArrowWriter

    return ArrowWriter(out, schema, compression="zstd")


def _schema() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("pyarrow", "pipeline") from None
    numbers = pyarrow.float64()
    return pyarrow.schema(
        [("audio_filepath", pyarrow.string()), ("truncation_events", pyarrow.int64())]
        + [(name, numbers) for name in _NUMBERS]
        + [(name, pyarrow.list_(numbers)) for name in _LISTS]
        + [(name, pyarrow.string()) for name in (*_NESTED, "other")]
    )


def _records(batch: Curated) -> Iterator[dict[str, Any]]:
    done = 0
    for row, record in batch.plain.items():
        yield from _parse(batch, done, row)
        yield record
        done = row + 1
    yield from _parse(batch, done, batch.rows)


def _parse(batch: Curated, start: int, stop: int) -> Iterator[dict[str, Any]]:
    if batch.native is not None:
        for line in batch.native.json_lines(start, stop).splitlines():
            yield json.loads(line)


def _row(record: dict[str, Any]) -> dict[str, Any]:
    row = {name: record.get(name) for name in ("audio_filepath", "truncation_events", *_NUMBERS, *_LISTS)}
    if not isinstance(row["audio_filepath"], str | None):
        row["audio_filepath"] = normal_form(row["audio_filepath"])
    row |= {name: normal_form(record[name]) for name in _NESTED}
    row["other"] = normal_form({key: value for key, value in record.items() if key not in _TYPED})
    return row
