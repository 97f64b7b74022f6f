from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from assay.errors import MissingExtra
from assay.history.history import History
from assay.history.rows import ExportRow

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = tuple(ExportRow.__dataclass_fields__)
_ROWS_A_GROUP = 100_000


def export_csv(history: History, out: TextIO) -> int:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    count = 0
    for row in history.metric_rows():
        writer.writerow([getattr(row, column) for column in COLUMNS])
        count += 1
    return count


def export_parquet(history: History, path: Path) -> int:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("pyarrow", "arrow") from None
    schema = pa.schema([(c, pa.float64() if c == "value" else pa.string()) for c in COLUMNS])
    count = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for table in _tables(history, schema):
            writer.write_table(table)
            count += table.num_rows
    return count


def _tables(history: History, schema: pa.Schema) -> Iterator[pa.Table]:
    import pyarrow as pa

    rows = history.metric_rows()
    while group := list(islice(rows, _ROWS_A_GROUP)):
        yield pa.table({c: [getattr(row, c) for row in group] for c in COLUMNS}, schema=schema)
