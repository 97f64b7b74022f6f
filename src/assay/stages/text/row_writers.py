from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO

from assay.errors import UsageError
from assay.names import unknown
from assay.pipeline import Part, Split, Writer
from assay.stages.text.column_rows import ColumnRows
from assay.stages.text.json_lines import JsonLines
from assay.stages.text.rows import Rows, import_arrow, import_orjson

FORMATS = ("jsonl", "parquet")
PIECES = 1_024
"""Pieces that the kernel takes at once (IOV_MAX)."""


class JsonlWriter(Writer[Rows]):
    name = "jsonl_writer"

    def __init__(self, folder: str | Path) -> None:
        super().__init__(folder, ".jsonl")

    def write(self, data: Rows, out: BinaryIO) -> int:
        if isinstance(data, JsonLines):
            write_pieces(out.fileno(), data.pieces())
            return len(data)
        dumps = import_orjson().dumps
        rows = data.rows() if isinstance(data, ColumnRows) else data.table().to_pylist()
        write_pieces(out.fileno(), [dumps(row) + b"\n" for row in rows])
        return len(data)


def write_pieces(file: int, pieces: list[memoryview | bytes]) -> None:
    """All of them, from where they stand: nothing is copied together first."""
    for start in range(0, len(pieces), PIECES):
        left = pieces[start : start + PIECES]
        while left:
            written = os.writev(file, left)
            while left and written >= len(left[0]):
                written -= len(left.pop(0))
            if left:
                left[0] = memoryview(left[0])[written:]


class ParquetWriter(Writer[Rows]):
    """The first batch of a split gives its schema; a split without rows gives a file without columns."""

    name = "parquet_writer"

    def __init__(self, folder: str | Path) -> None:
        super().__init__(folder, ".parquet")

    def begin(self, split: Split) -> None:
        super().begin(split)
        self._parquet: Any = None

    def write(self, data: Rows, out: BinaryIO) -> int:
        table = data.table()
        if self._parquet is None:
            self._parquet = _open(out, table.schema)
        elif table.schema != self._parquet.schema:
            table = table.select(self._parquet.schema.names).cast(self._parquet.schema)
        self._parquet.write_table(table)
        return int(table.num_rows)

    def finish(self) -> Part:
        if self._parquet is None:
            self._parquet = _open(self._out, import_arrow().schema([]))
        self._parquet.close()
        return super().finish()

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_parquet": None}


def _open(out: Any, schema: Any) -> Any:
    from pyarrow.parquet import ParquetWriter as ArrowWriter

    return ArrowWriter(out, schema, compression="zstd")


def writer_for(form: str, folder: str | Path) -> Writer[Rows]:
    if form not in FORMATS:
        raise UsageError(f"--output-format: {unknown('format', form, FORMATS)}")
    return JsonlWriter(folder) if form == "jsonl" else ParquetWriter(folder)
